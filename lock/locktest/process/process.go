// Package process runs programs that tests and proofs need: each writes to a log file
// that can be searched, and ends with the process that started it.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

const (
	// patience bounds the wait for a line in a log, on a machine that has much else to do.
	patience  = time.Minute
	pollEvery = 50 * time.Millisecond

	// stopGrace is how long a program may take for an orderly end.
	stopGrace = 15 * time.Second

	logLines = 15 // shown when something goes wrong
)

// ErrExited says that a program has ended that was meant to go on.
var ErrExited = errors.New("has exited")

// Process is one run of a program, from its start until it has been reaped. Its
// methods may be called concurrently.
type Process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when reaped; cmd.ProcessState may be read from then on
	log  string
}

// Start runs a binary in a directory, where <name>.log gets what it writes. On Linux
// the kernel kills it if this program dies without having called Stop.
func Start(name, dir, bin string, args ...string) (*Process, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	p := &Process{name: name, cmd: exec.Command(bin, args...), done: make(chan struct{}), log: filepath.Join(dir, name+".log")}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = sysProcAttr()
	started := make(chan error)
	go p.own(out, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// own starts the program and waits for it on one OS thread: the parent-death signal
// is sent when the thread that made the child ends (golang/go#27505).
func (p *Process) own(out *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer out.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // how it ended is in cmd.ProcessState
	close(p.done)
}

// Await returns the submatches of the first place in the log that matches. It fails
// with ErrExited if the program ends first, and after a minute.
func (p *Process) Await(ctx context.Context, what *regexp.Regexp) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s has not said %q within %v, but\n%s", p.name, what, patience, p.Tail()))
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		ended := p.Err() // before the log is read: nothing is added to it afterwards
		text, err := os.ReadFile(p.log)
		if err != nil {
			return nil, err
		}
		if found := what.FindStringSubmatch(string(text)); found != nil {
			return found, nil
		}
		if ended != nil {
			return nil, ended
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Err returns nil while the program runs, then an error that matches ErrExited and
// shows the end of its log.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s %w: %v\n%s", p.name, ErrExited, p.cmd.ProcessState, p.Tail())
	default:
		return nil
	}
}

// Tail returns the last lines of the log.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

// Kill ends the program at once, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // an error means that it is gone
	<-p.done
}

// Stop asks the program to end, kills it if it has not within 15 s, and returns when
// it is gone. It fails if the program had to be killed. Stopping again is fine.
func (p *Process) Stop() error {
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	if askToExit(p.cmd.Process) != nil {
		p.Kill() // it is gone, or there are no signals here
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	p.Kill()
	return fmt.Errorf("%s did not end within %v and was killed\n%s", p.name, stopGrace, p.Tail())
}

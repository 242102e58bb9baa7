// Package process runs programs that tests and proofs need: each writes to a log file
// that can be searched, can be frozen, and ends with the process that started it.
//
// It is for lockscope's own packages.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// stopGrace is how long a program may take for an orderly end.
const stopGrace = 15 * time.Second

var (
	// ErrExited says that a program has ended that was meant to go on.
	ErrExited = errors.New("has exited")

	// ErrKilled says that a program did not end when it was asked to.
	ErrKilled = errors.New("did not end in time and was killed")
)

// Process is one run of a program, from its start until it has been reaped. Its
// methods may be called concurrently.
type Process struct {
	name    string
	cmd     *exec.Cmd
	done    chan struct{} // closed when reaped; cmd.ProcessState may be read from then on
	log     string
	logFrom int64 // where in the log this run begins
}

// Start runs a command. Its output is appended to <name>.log in the directory, except
// where cmd redirects it. Unless cmd names another one, the command works in that
// directory. Its environment, input and credentials are those of cmd.
//
// On Linux the kernel kills it, with another signal if cmd names one, if this program
// dies without having called Stop. On every Unix it has a process group of its own, and
// so does not hear a terminal's Ctrl-C.
//
// From here on the Process owns the command and waits for it. Read its output from the
// log, with Await, and not from cmd.StdoutPipe.
func Start(name, dir string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{name: name, cmd: cmd, done: make(chan struct{}), log: filepath.Join(dir, name+".log")}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if p.logFrom, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err := p.prepare(dir, log); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	started := make(chan error)
	go p.own(log, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// prepare fills in what the command leaves open. The log is a file rather than a pipe:
// a pipe needs goroutines, and stays open as long as any child of the program does.
func (p *Process) prepare(dir string, log *os.File) (err error) {
	if p.cmd.Dir == "" {
		p.cmd.Dir = dir
		p.cmd.Path, err = filepath.Abs(p.cmd.Path) // it was relative to here, not to there
	}
	if p.cmd.Stdout == nil {
		p.cmd.Stdout = log
	}
	if p.cmd.Stderr == nil {
		p.cmd.Stderr = log
	}
	p.cmd.SysProcAttr = sysProcAttr(p.cmd.SysProcAttr)
	return err
}

// own starts the program and waits for it on one OS thread: the parent-death signal
// is sent when the thread that made the child ends, and the Go runtime ends threads as
// it sees fit (golang/go#27505).
func (p *Process) own(log *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer log.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // how it ended is in cmd.ProcessState
	close(p.done)
}

// PID returns the program's process id, which may be another's once it has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the program has ended and has been reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the program has not ended. It is true of a frozen one.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ExitCode returns the program's exit status: -1 while it runs, and if a signal ended it.
func (p *Process) ExitCode() int {
	if p.Running() {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// Err returns nil while the program runs, then an error that matches ErrExited and
// shows the end of its log.
func (p *Process) Err() error {
	if p.Running() {
		return nil
	}
	return fmt.Errorf("%s %w: %v\n%s", p.name, ErrExited, p.cmd.ProcessState, p.Tail())
}

// Signal sends a signal. It fails with ErrExited if the program has ended.
func (p *Process) Signal(sig os.Signal) error { return p.sent(p.cmd.Process.Signal(sig)) }

// sent is the error of having sent a signal. Only the process itself is ever hit: its
// id is not used after it has been reaped.
func (p *Process) sent(err error) error {
	switch {
	case errors.Is(err, os.ErrProcessDone):
		<-p.done
		return p.Err()
	case err != nil:
		return fmt.Errorf("%s: %w", p.name, err)
	default:
		return nil
	}
}

// Kill ends the program at once, frozen or not, and returns when it is gone. Killing
// one that has ended does nothing.
func (p *Process) Kill() error {
	if err := p.sent(p.cmd.Process.Kill()); err != nil && !errors.Is(err, ErrExited) {
		return err
	}
	<-p.done
	return nil
}

// Stop is StopWithin 15 seconds.
func (p *Process) Stop() error { return p.StopWithin(stopGrace) }

// StopWithin asks the program to end, kills it if it has not after the grace period,
// and returns when it is gone. The error matches ErrKilled if the program had to be
// killed, and shows the end of its log. A frozen program goes on first, or it would not
// hear. Where there are no signals it is killed, without an error. Stopping again is
// fine.
func (p *Process) StopWithin(grace time.Duration) error {
	_ = thaw(p.cmd.Process) // an error means that asking it to exit fails too
	if askToExit(p.cmd.Process) != nil {
		return p.Kill()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	if err := p.Kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s %w: %v\n%s", p.name, ErrKilled, grace, p.Tail())
}

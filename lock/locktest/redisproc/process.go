package redisproc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	logName  = "redis-server.log"
	logLines = 15 // shown when a server does not start
)

// process is one run of redis-server, from exec until it has been reaped.
type process struct {
	cmd     *exec.Cmd
	done    chan struct{} // closed when reaped; cmd.ProcessState may be read from then on
	log     string        // file that stdout and stderr go to
	logFrom int64         // where in it this run begins
}

// launch starts the binary in dir and returns as soon as it runs. Its output goes to a file rather than through a pipe: a
// pipe needs goroutines, and stays open as long as a forked child of the server (a background save) does.
func launch(bin, dir string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(bin, args...), done: make(chan struct{}), log: filepath.Join(dir, logName)}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if p.logFrom, err = out.Seek(0, io.SeekEnd); err != nil {
		out.Close()
		return nil, err
	}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = sysProcAttr()
	started := make(chan error)
	go p.own(out, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// own starts the process and waits for it on one and the same OS thread: the kernel sends the parent-death signal when the
// *thread* that created the child ends, and the Go runtime ends threads as it sees fit (golang/go#27505).
func (p *process) own(out *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer out.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.cmd.Wait() // how it ended is in cmd.ProcessState; that it was not with 0 is the normal case here
	close(p.done)
}

// running is also true of a paused process.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// kill works on a paused process too. It returns when the process has been reaped.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}

// terminate asks the process to exit and kills it if it has not done so within grace. A paused one is resumed first, or it
// would never see the request.
func (p *process) terminate(grace time.Duration) error {
	resume(p.cmd.Process)
	if err := askToExit(p.cmd.Process); err != nil {
		return p.kill()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return p.kill()
	}
}

// tail returns the last lines this run has written.
func (p *process) tail() string {
	all, err := os.ReadFile(p.log)
	if err != nil || int64(len(all)) < p.logFrom {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(all[p.logFrom:])), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

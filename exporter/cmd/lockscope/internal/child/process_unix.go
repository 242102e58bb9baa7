//go:build unix

package child

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalBase is what shells add to the number of the signal that ended a command.
const signalBase = 128

// groupPoll is how often to look whether the processes that a command left behind have ended: only their parents learn
// that.
const groupPoll = 10 * time.Millisecond

// process is a command that was started, and the process group that it leads.
type process struct {
	cmd    *exec.Cmd
	group  int
	exited chan struct{} // closed when the command has ended; status may be read from then on
	gone   chan struct{} // closed when no process of the group is left, too
	stops  chan os.Signal
	status int
	cut    chan struct{} // closed by abandon
}

// start starts a command as the leader of a process group of its own, in the foreground of a terminal that is given to
// commands. The caller waits for gone, or calls abandon.
func start(c Command, terminal *console) (*process, error) {
	p := &process{
		cmd: c.cmd(), exited: make(chan struct{}), gone: make(chan struct{}), stops: make(chan os.Signal, 1),
		cut: make(chan struct{}),
	}
	p.cmd.SysProcAttr = attributes()
	p.cmd.SysProcAttr.Setpgid = true
	if terminal.wanted() {
		// From its first instant: one that is given the terminal later may be stopped for using it, and what continues it
		// then may undo a Ctrl-Z.
		p.cmd.SysProcAttr.Foreground, p.cmd.SysProcAttr.Ctty = true, int(terminal.tty.Fd())
	}
	started := make(chan error)
	go p.own(started)
	if err := <-started; err != nil {
		return nil, startError(c.Args[0], err)
	}
	return p, nil
}

// own starts the command and waits for it on one OS thread: Linux kills the command when the thread that started it
// ends, and the Go runtime ends threads as it sees fit (golang/go#27505).
func (p *process) own(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	if err == nil {
		p.group = p.cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	p.status = p.await()
	close(p.exited)
	p.awaitGroup()
	_ = p.cmd.Wait() // for what copies its output, where that is no file
	close(p.gone)
}

// await waits until the command has ended, and reports when it stops. exec.Cmd.Wait does not notice a stop.
func (p *process) await() (status int) {
	for {
		var state syscall.WaitStatus
		_, err := syscall.Wait4(p.group, &state, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return ExitCannotRun // nobody else waits for it
		case state.Stopped():
			select {
			case p.stops <- state.StopSignal():
			default:
			}
		case state.Signaled():
			return signalBase + int(state.Signal())
		case state.Exited():
			return state.ExitStatus()
		}
	}
}

// awaitGroup waits for what the command left behind. See Adopt: some may have become children of this process.
func (p *process) awaitGroup() {
	for {
		for {
			if pid, err := syscall.Wait4(-p.group, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
				break
			}
		}
		if syscall.Kill(-p.group, 0) == syscall.ESRCH {
			return
		}
		select {
		case <-p.cut:
			return
		case <-time.After(groupPoll):
		}
	}
}

// abandon stops waiting for what the command left behind.
func (p *process) abandon() {
	close(p.cut)
	<-p.gone
}

// signal sends to all processes of the group. It reports whether there was one.
func (p *process) signal(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	return ok && syscall.Kill(-p.group, number) == nil
}

// terminate asks all of them to end, and reports whether one was there. A stopped process would not hear that.
func (p *process) terminate() bool {
	asked := p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT) // they may be gone by then
	return asked
}

func (p *process) kill() bool { return p.signal(syscall.SIGKILL) }

// Passed are the signals that a command gets in place of lockscope.
func Passed() []os.Signal {
	return []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT,
	}
}

// Ends reports that a signal ends a process that does not handle it.
func Ends(sig os.Signal) bool {
	switch sig {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
		return true
	}
	return false
}

// nameOf is "SIGTERM".
func nameOf(sig os.Signal) string {
	number, _ := sig.(syscall.Signal)
	return unix.SignalName(number)
}

// StatusOf is the exit status of a process that this signal ends.
func StatusOf(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return signalBase + int(number)
}

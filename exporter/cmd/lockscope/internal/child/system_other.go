//go:build !unix

package child

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// These are no signals that anything here would send.
var continued, terminalStop os.Signal

// console is the terminal of this process. Without process groups the command has it already.
type console struct{ eager bool }

func openConsole(Command) *console { return nil }

func (*console) close() {}

func (*console) give(int) {}

func (*console) take() {}

func (*console) ours() bool { return false }

func (*console) has(int) bool { return false }

func (*console) wanted() bool { return false }

func (*console) stoppedUnseen(int) bool { return false }

func (*console) suspend() bool { return false }

func isOfTerminal(os.Signal) bool { return false }

func isContinue(os.Signal) bool { return false }

func wantsTerminal(os.Signal) bool { return false }

// process is a command that was started. There are no process groups: what it starts by itself is left alone.
type process struct {
	cmd    *exec.Cmd
	group  int
	exited chan struct{}
	gone   chan struct{}
	stops  chan os.Signal
	status int
}

// Adopt does nothing.
func Adopt() {}

func start(c Command, _ *console) (*process, error) {
	p := &process{cmd: c.cmd(), exited: make(chan struct{}), gone: make(chan struct{})}
	if err := p.cmd.Start(); err != nil {
		return nil, startError(c.Args[0], err)
	}
	p.group = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		p.status = p.cmd.ProcessState.ExitCode()
		close(p.exited)
		close(p.gone)
	}()
	return p, nil
}

func (p *process) abandon() { <-p.gone }

// signal cannot reach a command: a console sends Ctrl-C to it, too.
func (p *process) signal(os.Signal) bool { return false }

func (p *process) terminate() bool { return p.kill() }

func (p *process) kill() bool { return p.cmd.Process.Kill() == nil }

// statusInterrupted is what shells report after Ctrl-C.
const statusInterrupted = 130

// Passed are the signals that lockscope hears while a command runs.
func Passed() []os.Signal { return []os.Signal{os.Interrupt} }

// Ends reports that a signal ends a process that does not handle it.
func Ends(sig os.Signal) bool { return sig == os.Interrupt }

// nameOf is "interrupt".
func nameOf(sig os.Signal) string { return sig.String() }

// StatusOf is the exit status of a process that this signal ends.
func StatusOf(os.Signal) int { return statusInterrupted }

var processStarted = time.Now()

// bootTime is the time since this process started.
func bootTime() time.Duration { return time.Since(processStarted) }

type watchdog struct{}

// startWatchdog fails: a watchdog needs process groups.
func startWatchdog(*os.File) (*watchdog, error) { return nil, errors.ErrUnsupported }

// Guard does nothing.
func (*watchdog) Guard(int, time.Duration) error { return nil }

// Starting does nothing.
func (*watchdog) Starting(time.Duration) error { return nil }

// Done does nothing.
func (*watchdog) Done() {}

// WatchdogMain does nothing.
func WatchdogMain(io.Reader, io.Writer) int { return 0 }

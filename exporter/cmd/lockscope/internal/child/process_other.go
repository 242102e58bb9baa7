//go:build !unix

package child

import (
	"os"
	"os/exec"
)

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

func start(c Command) (*process, error) {
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

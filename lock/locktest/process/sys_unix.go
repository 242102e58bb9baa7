//go:build unix

package process

import (
	"os"
	"syscall"
)

func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }
func askToExit(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

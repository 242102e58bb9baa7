//go:build unix

package redisproc

import (
	"os"
	"syscall"
)

func pause(p *os.Process) error     { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error    { return p.Signal(syscall.SIGCONT) }
func askToExit(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

package process

import (
	"os"
	"runtime"
	"syscall"
)

// askToExit fails where there are no signals, and for a program that is gone.
func askToExit(p *os.Process) error {
	if runtime.GOOS == "windows" {
		return os.ErrInvalid
	}
	return p.Signal(syscall.SIGTERM)
}

package alertmanagertest

import (
	"os"
	"runtime"
	"syscall"
)

// askToExit fails where there are no signals; the process is killed then.
func askToExit(p *os.Process) error {
	if runtime.GOOS == "windows" {
		return os.ErrInvalid
	}
	return p.Signal(syscall.SIGTERM)
}

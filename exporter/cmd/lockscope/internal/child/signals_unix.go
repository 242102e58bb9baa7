//go:build unix

package child

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

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

//go:build unix && !linux

package child

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes: only Linux can kill a command whose parent was killed. The watchdog does it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Adopt does nothing: what a command leaves behind becomes a child of the first process.
func Adopt() {}

// bootTime is the time since some fixed point. All processes of a machine share it.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // POSIX demands this clock
	}
	return time.Duration(now.Nano())
}

// parentOf is not known here: Ctrl-Z does nothing in a script.
func parentOf(int) int { return 0 }

// groupStartedBy knows none: only Linux lists processes in files.
func groupStartedBy(int) (group int) { return 0 }

// stopsUnseen is not known here.
func stopsUnseen(int) bool { return false }

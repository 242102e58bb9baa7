//go:build unix && !linux

package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is the time since some fixed point. All processes of a machine share it.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // POSIX demands this clock
	}
	return time.Duration(now.Nano())
}

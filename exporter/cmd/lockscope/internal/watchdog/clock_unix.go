//go:build unix && !linux

package watchdog

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since some fixed point. All processes of a machine share it.
func Now() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // POSIX demands this clock
	}
	return time.Duration(now.Nano())
}

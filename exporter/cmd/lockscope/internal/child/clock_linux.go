package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is the time since some fixed point. All processes of a machine share it, and it counts while the machine is
// suspended.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic(err) // every Linux that Go runs on has this clock
	}
	return time.Duration(now.Nano())
}

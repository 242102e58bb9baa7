package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is the time since boot, suspension included; 0 where it is not told.
func bootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

//go:build !linux

package clock

import "time"

// bootTime is 0: the monotonic clock is all this system offers portably.
func bootTime() time.Duration { return 0 }

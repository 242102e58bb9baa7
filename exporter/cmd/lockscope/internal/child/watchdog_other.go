//go:build !unix

package child

import (
	"errors"
	"io"
	"os"
	"time"
)

var processStarted = time.Now()

// bootTime is the time since this process started.
func bootTime() time.Duration { return time.Since(processStarted) }

// watchdog is a watchdog.
type watchdog struct{}

// startWatchdog fails: a watchdog needs process groups.
func startWatchdog(*os.File) (*watchdog, error) { return nil, errors.ErrUnsupported }

// Guard does nothing.
func (*watchdog) Guard(int, time.Duration) error { return nil }

// Starting does nothing.
func (*watchdog) Starting(time.Duration) error { return nil }

// Done does nothing.
func (*watchdog) Done() {}

// WatchdogMain does nothing.
func WatchdogMain(io.Reader, io.Writer) int { return 0 }

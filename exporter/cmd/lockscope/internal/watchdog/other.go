//go:build !unix

package watchdog

import (
	"errors"
	"io"
	"os"
	"time"
)

var start = time.Now()

// Now is the time since this process started.
func Now() time.Duration { return time.Since(start) }

// Dog is a watchdog.
type Dog struct{}

// Start fails: a watchdog needs process groups.
func Start(*os.File) (*Dog, error) { return nil, errors.ErrUnsupported }

// Guard does nothing.
func (*Dog) Guard(int, time.Duration) error { return nil }

// Starting does nothing.
func (*Dog) Starting(time.Duration) error { return nil }

// Done does nothing.
func (*Dog) Done() {}

// Main does nothing.
func Main(io.Reader, io.Writer) int { return 0 }

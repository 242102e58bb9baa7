package output

import (
	"testing"
	"time"
)

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0ms", 1500 * time.Microsecond: "1.5ms", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s",
		61 * time.Second: "1m01s", 90 * time.Minute: "1h30m", 100 * time.Hour: "4.2d",
	} {
		if got := Short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
	}
}

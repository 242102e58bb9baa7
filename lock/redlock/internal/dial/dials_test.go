package dial

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// deafDialer ignores its context, as a dialer through a proxy may.
func deafDialer(release <-chan struct{}, dialled *atomic.Int32) Func {
	return func(context.Context, string, string) (net.Conn, error) {
		dialled.Add(1)
		<-release
		a, _ := net.Pipe()
		return a, nil
	}
}

// TestADeafDialerIsBounded: five hundred calls meet a dialer that hangs. They end with their contexts, few goroutines
// remain, and close reports the dials it did not wait for.
func TestADeafDialerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled atomic.Int32
		release := make(chan struct{})
		d := New(deafDialer(release, &dialled), 5*time.Second)
		for i := range 500 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := d.Connect(ctx, "tcp", "10.0.0.1:6379")
			want := context.DeadlineExceeded
			if i >= maxLateDials {
				want = driver.ErrNotSent
			}
			if !errors.Is(err, want) {
				t.Fatalf("call %d: %v, want %v", i, err, want)
			}
			cancel()
		}
		synctest.Wait()
		if n := dialled.Load(); n != maxLateDials {
			t.Errorf("%d dials under way, want %d", n, maxLateDials)
		}
		began := time.Now()
		if err := d.Close(); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("close took %v: %v", time.Since(began), err)
		}
		close(release)
		synctest.Wait()
		if err := d.Close(); err != nil {
			t.Errorf("close with nothing under way: %v", err)
		}
	})
}

// TestADialerThatRecoversIsUsedAgain: late dials that have ended no longer count.
func TestADialerThatRecoversIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled atomic.Int32
		release := make(chan struct{})
		d := New(deafDialer(release, &dialled), time.Second)
		for range maxLateDials + 1 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = d.Connect(ctx, "tcp", "10.0.0.1:6379")
			cancel()
		}
		close(release)
		synctest.Wait()
		conn, err := d.Connect(t.Context(), "tcp", "10.0.0.1:6379")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := d.Connect(t.Context(), "tcp", "10.0.0.1:6379"); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	})
}

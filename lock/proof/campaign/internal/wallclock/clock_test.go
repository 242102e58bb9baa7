//go:build linux

package wallclock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/wallclock"
)

// TestClockOfAServer steps the clock of a redis-server: its TIME follows, and a key is gone with the step.
func TestClockOfAServer(t *testing.T) {
	shim, err := wallclock.Build(t.TempDir())
	must(t, err)
	clock, err := shim.New("node")
	must(t, err)
	defer clock.Close()
	server, err := redisproc.Start(t.Context(), redisproc.WithEnv(clock.Env()...))
	must(t, err)
	defer server.Stop()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()

	wantOffset(t, client, 0)
	must(t, client.Set(t.Context(), "key", "value", time.Minute).Err())
	clock.Step(-time.Hour)
	wantOffset(t, client, -time.Hour)
	if left := client.PTTL(t.Context(), "key").Val(); left < time.Hour {
		t.Errorf("after a step back the key has %v left", left)
	}
	clock.Step(3 * time.Hour)
	wantOffset(t, client, 2*time.Hour)
	if n := client.Exists(t.Context(), "key").Val(); n != 0 {
		t.Error("the key outlives a step of three hours")
	}
	if off := clock.Offset() - 2*time.Hour; off.Abs() > time.Second {
		t.Errorf("the clock says it is off by another %v", off)
	}

	clock.Step(-clock.Offset())
	clock.SetRate(1e9) // twice as fast
	began := time.Now()
	for client.Time(t.Context()).Val().Sub(began) < time.Second {
		if time.Since(began) > 20*time.Second {
			t.Fatal("a fast clock does not get on")
		}
	}
	if took := time.Since(began); took > 800*time.Millisecond {
		t.Logf("a second of a clock that is twice as fast took %v", took) // the machine is busy
	}
}

func wantOffset(t *testing.T, client *redis.Client, want time.Duration) {
	t.Helper()
	now, err := client.Time(context.Background()).Result()
	must(t, err)
	if off := time.Until(now) - want; off.Abs() > 5*time.Second {
		t.Errorf("the server's clock is off by %v, want %v", off+want, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

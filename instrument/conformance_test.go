package instrument_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// everything observes in every possible way.
func everything(t testing.TB) []instrument.Option {
	return []instrument.Option{
		instrument.WithRegisterer(prometheus.NewRegistry()),
		instrument.WithTracerProvider(new(spans).provider()),
		instrument.WithLogger(slog.New(slog.DiscardHandler)),
		instrument.WithNativeHistograms(),
	}
}

// hostile returns observers that fail in every possible way.
func hostile(testing.TB) []instrument.Option {
	return []instrument.Option{
		instrument.WithTracerProvider(&provider{into: new(spans), drop: func([]attribute.KeyValue) bool { panic("start") }}),
		instrument.WithLogger(slog.New(panicking{})),
		instrument.WithResourceLabel(func(string) string { panic("label") }),
		instrument.WithMaxResources(0),
		instrument.WithLongWait(1),
	}
}

func TestLockerOnFakes(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, options := range map[string]func(testing.TB) []instrument.Option{"": everything,
			"/hostile observers": hostile} {
			t.Run(fmt.Sprint(n, name), func(t *testing.T) {
				t.Parallel()
				conformInFakeTime(t, n, func(t testing.TB, fake lock.Locker) lock.Locker {
					return wrap(t, fake, options(t)...)
				})
			})
		}
	}
}

// TestStacked wraps a decorator in another: neither disturbs the other.
func TestStacked(t *testing.T) {
	t.Parallel()
	conformInFakeTime(t, 3, func(t testing.TB, fake lock.Locker) lock.Locker {
		return wrap(t, lock.Reentrant(wrap(t, fake, everything(t)...)), everything(t)...)
	})
}

// decorated is what a decorated engine on Redis can do.
var decorated = driver.Capabilities{Keep: true, Readers: true, SlotQueue: true}

// conformInFakeTime runs the suite on n fake nodes.
func conformInFakeTime(t *testing.T, n int, around func(testing.TB, lock.Locker) lock.Locker) {
	locktest.Run(t, locktest.Driver{
		Start: func(t testing.TB) locktest.Maker {
			fakes := locktest.NewFakes(t, n)
			return func(t testing.TB, opts ...lock.Option) lock.Locker { return around(t, fakes(t, opts...)) }
		},
		Capabilities: decorated,
	})
}

func wrap(t testing.TB, next lock.Locker, opts ...instrument.Option) *instrument.Locker {
	t.Helper()
	l, err := instrument.Wrap(next, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// onRedis uses servers that were empty from the start.
func onRedis(t testing.TB, addrs []string, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, addr := range addrs {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: addr}))
	}
	l, err := redlock.New(clients, append([]lock.Option{redlock.WithRestartQuarantine(0),
		lock.WithNodeTimeout(time.Second)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range clients {
			_ = c.Close()
		}
	})
	return l
}

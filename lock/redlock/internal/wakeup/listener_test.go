package wakeup

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// TestADeadNodeIsDialledLessAndLess: with many processes, a node that is too busy to answer would otherwise be kept
// busy by those that connect.
func TestADeadNodeIsDialledLessAndLess(t *testing.T) {
	for name, dial := range map[string]func(context.Context) error{
		"refuses": func(context.Context) error { return errors.New("refused") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int64
				client := redis.NewClient(&redis.Options{
					Addr: "10.0.0.1:6379", MaxRetries: -1, DialerRetries: 1, Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
						dials.Add(1)
						return nil, dial(ctx)
					},
				})
				defer client.Close()
				l := New(client, time.Second)
				l.done.Go(func() { l.reopen("w") })
				time.Sleep(10 * time.Second)
				early := dials.Load()
				time.Sleep(time.Minute)
				late := dials.Load() - early
				l.Close()
				if early < 2 || late < 8 || late > 70 {
					t.Errorf("%d dials in ten seconds, %d in the minute after it", early, late)
				}
			})
		})
	}
}

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

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
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

// TestAConnectionThatBreaksWakesAll, once the node is subscribed to again: messages may have been lost meanwhile.
func TestAConnectionThatBreaksWakesAll(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	defer client.Close()
	l, woken := New(client, time.Minute), make(chan string, 1)
	defer l.Close()
	if err := l.Subscribe(t.Context(), "w", func(key string) { woken <- key }); err != nil {
		t.Fatal(err)
	}
	if n, err := client.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Result(); n != 1 || err != nil {
		t.Fatalf("%d connections cut, %v", n, err)
	}
	select {
	case key := <-woken:
		if key != "" {
			t.Errorf("woken for %q, want all", key)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nobody is woken")
	}
	if n, err := client.Publish(t.Context(), scripts.WakeChannel("w"), "lock:a").Result(); n != 1 || err != nil {
		t.Fatalf("%d subscribers, %v", n, err)
	}
	if key := <-woken; key != "lock:a" {
		t.Errorf("woken for %q", key)
	}
}

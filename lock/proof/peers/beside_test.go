package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestAWaiterMeetsTheReleaseOfAnotherLibrary, which tells nobody. With a poll interval of
// 40 s a waiter that only polled would look after 20 s at the earliest; one that knows
// whom it waits for looks within 8 s.
func TestAWaiterMeetsTheReleaseOfAnotherLibrary(t *testing.T) {
	addrs := startedServers(t, 3, 0).addrs
	for _, nodes := range []int{1, 3} {
		for _, p := range []peer{redsyncPeer(), redislockPeer(), goRedisPeer()} {
			if !p.can(work{nodes: nodes}) {
				continue
			}
			t.Run(fmt.Sprintf("nodes=%d/%s", nodes, p.name), func(t *testing.T) {
				t.Parallel()
				other := opened(t, p, addrs[:nodes])
				release := acquired(t, t.Context(), other, ourPrefix+t.Name())
				extend(t, addrs[:nodes], ourPrefix+t.Name(), 2*time.Minute)
				waiter := newWaiter(t, addrs[:nodes], t.Name(), lock.WithPollInterval(40*time.Second))
				select {
				case <-waiter.queued:
				case err := <-waiter.done:
					t.Fatalf("it does not wait for the holder: %v", err)
				}
				if err := release(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := waiter.wait(20 * time.Second); err != nil {
					t.Errorf("the free lock was not found: %v", err)
				}
			})
		}
	}
}

// extend makes a lock last, as a watchdog would: its end is no reason to look.
func extend(t *testing.T, addrs []string, key string, ttl time.Duration) {
	t.Helper()
	c := newClients(addrs)
	defer func() { _ = c.Close() }()
	for _, client := range c {
		if err := client.PExpire(t.Context(), key, ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// waiter is an Acquire of lockscope in the background.
type waiter struct {
	queued chan struct{} // closed when it waits for the holder
	done   chan error    // of its Acquire and its Release
	cancel context.CancelFunc
}

func newWaiter(t *testing.T, addrs []string, resource string, opts ...lock.Option) *waiter {
	t.Helper()
	c := newClients(addrs)
	t.Cleanup(func() { _ = c.Close() })
	var nodes []redis.UniversalClient
	for _, client := range c {
		nodes = append(nodes, client)
	}
	patient := []lock.Option{
		redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(5 * time.Second), lock.WithMaxTTL(time.Minute),
	}
	engine, err := redlock.New(nodes, slices.Concat(patient, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	w := &waiter{queued: make(chan struct{}), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	var once sync.Once
	ctx = locktrace.With(ctx, &locktrace.Trace{WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
		if e.Kind == locktrace.WaitHolder {
			once.Do(func() { close(w.queued) })
		}
		return ctx
	}})
	go func() {
		lease, err := engine.Acquire(ctx, resource, lock.TTL(time.Minute))
		if err == nil {
			err = lease.Release(t.Context())
		}
		w.done <- err
	}()
	return w
}

func (w *waiter) wait(atMost time.Duration) error {
	timer := time.AfterFunc(atMost, w.cancel)
	defer timer.Stop()
	defer w.cancel()
	return <-w.done
}

// TestRunBeside is the second table, too short for its numbers to mean anything.
func TestRunBeside(t *testing.T) {
	var stdout, stderr strings.Builder
	args := []string{"-beside", "-for", "100ms", "-stretches", "1", "-rows", "rest 0s"}
	if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	t.Log("\n" + stdout.String())
	if table := cells(stdout.String()); len(table) != 1+5 || strings.Contains(stdout.String(), errTwoHolders.Error()) {
		t.Errorf("%d lines in the table", len(table))
	}
}

package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestPeersExclude is what every number of the table takes for granted: on real servers,
// each peer locks, keeps another process out, and unlocks.
func TestPeersExclude(t *testing.T) {
	addrs := startedServers(t, 5, 0).addrs
	for _, nodes := range []int{1, 5} {
		for _, p := range allPeers() {
			if !p.can(work{nodes: nodes}) && !p.can(work{nodes: nodes, contended: true}) {
				continue // on that many nodes, or among processes at all
			}
			t.Run(fmt.Sprintf("nodes=%d/%s", nodes, p.name), func(t *testing.T) {
				t.Parallel()
				checkExcludes(t, p, addrs[:nodes])
			})
		}
	}
}

func checkExcludes(t *testing.T, p peer, addrs []string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, b := opened(t, p, addrs), opened(t, p, addrs)
	resource := t.Name()
	if err := p.ready(ctx, a, resource); err != nil {
		t.Fatal(err)
	}
	release := acquired(t, ctx, a, resource)

	brief, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	if _, err := b.Acquire(brief, resource); err == nil {
		t.Fatal("two processes hold it")
	}

	if err := release(ctx); err != nil {
		t.Fatalf("release: %v", err)
	}
	if err := acquired(t, ctx, b, resource)(ctx); err != nil {
		t.Fatalf("release by the next: %v", err)
	}
}

// acquired asks until it is granted: not every peer waits, and what some leave behind
// when their context ends takes the TTL to go.
func acquired(t *testing.T, ctx context.Context, l locker, resource string) func(context.Context) error {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		release, err := l.Acquire(ctx, resource)
		if err == nil {
			return release
		}
		select {
		case <-ctx.Done():
			t.Fatalf("acquire: %v", err)
		case <-tick.C:
		}
	}
}

// TestAddedRoundTrip takes two of them for a pair.
func TestAddedRoundTrip(t *testing.T) {
	const rtt = 20 * time.Millisecond
	l := opened(t, goRedisPeer(), startedServers(t, 1, rtt).addrs)
	began := time.Now()
	if err := pair(t.Context(), l, "far away"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 2*rtt {
		t.Errorf("a pair took %v", took)
	}
}

func startedServers(t *testing.T, n int, rtt time.Duration) *servers {
	t.Helper()
	s, err := startServers(t.Context(), n, rtt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func opened(t *testing.T, p peer, addrs []string) locker {
	t.Helper()
	l, err := p.open(t.Context(), addrs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

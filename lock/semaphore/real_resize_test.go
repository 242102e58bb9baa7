package semaphore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestRealResize on five servers: with one that hangs nothing changes, and the error names it. When it answers again, the
// smaller number is true once Resize returns, and calls with the old one learn of it.
func TestRealResize(t *testing.T) {
	t.Parallel()
	longest := lock.WithMaxTTL(realTTL)
	servers := newServers(t, 5, longest)
	old := newSemaphore(t, redisLocker(t, servers, longest), 3)
	var permits []*semaphore.Permit
	for range 3 {
		p, err := old.Acquire(t.Context(), lock.TTL(realTTL))
		must(t, err)
		permits = append(permits, p)
	}
	operator := redisLocker(t, servers, longest)
	must(t, servers[3].Pause())
	err := operator.Resize(t.Context(), "pool", 3, 2)
	unfinished, ok := errors.AsType[*engine.ResizeError](err)
	if !ok || unfinished.Nodes[3].Err == nil || !strings.Contains(err.Error(), servers[3].Addr()) {
		t.Fatalf("with a server that hangs: %v", err)
	}
	must(t, servers[3].Resume())
	for began := time.Now(); err != nil; { // until the connections to it are made anew
		if err = operator.Resize(t.Context(), "pool", 3, 2); err != nil && time.Since(began) > time.Minute {
			t.Fatal(err)
		}
	}
	for _, p := range permits {
		if p.Slot() == 2 && p.Remaining() > 0 {
			t.Error("the permit of the slot that is gone is valid")
		}
	}
	_, err = old.TryAcquire(t.Context(), lock.TTL(realTTL))
	if other, ok := errors.AsType[*lock.SlotsError](err); !ok || other.Other != 2 {
		t.Errorf("with the old number: %v", err)
	}
	for _, p := range permits {
		_ = p.Release(t.Context())
	}
}

package redlock_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealReconfigureUnderLoad grows a set of three nodes to five and shrinks it again. Processes of both
// configurations keep trying all the time. In the first run an old node hangs and joins later; in the second all nodes
// answer.
func TestRealReconfigureUnderLoad(t *testing.T) {
	t.Parallel()
	const ttl = 4 * nodeTimeout
	quarantine := redlock.Quarantine(ttl)
	options := []lock.Option{lock.WithMaxTTL(ttl)}
	f := startNodes(t, 5)
	three := &realNodes{t: t, servers: f.servers[:3], admin: f.admin[:3]}
	must(t, redlock.Vouch(t.Context(), three.clients(), options...))
	small := redlock.Configuration{Nodes: three.clients(), Options: options}
	large := redlock.Configuration{Nodes: f.clients(), Options: options}

	ctx, stop := context.WithCancel(t.Context())
	of3, of5 := &heldWindows{}, &heldWindows{}
	var wg sync.WaitGroup
	for range 2 {
		of3.compete(ctx, &wg, guardedLocker(t, three.clients(), options...), ttl)
		of5.compete(ctx, &wg, guardedLocker(t, f.clients(), options...), ttl)
	}
	defer func() { stop(); wg.Wait() }()
	eventually(t, settleTime, "the old configuration grants", func() bool { return of3.since(time.Time{}) > 20 })

	f.pause(2)
	began := time.Now()
	away, err := redlock.Reconfigure(t.Context(), small, large)
	must(t, err)
	if want := []string{f.servers[2].Addr()}; !slices.Equal(away, want) {
		t.Errorf("away: %v, want %v", away, want)
	}
	changed := time.Now()
	f.resume(2)
	eventually(t, quarantine+settleTime, "the new configuration grants", func() bool { return of5.since(changed) > 20 })
	away, err = redlock.Reconfigure(t.Context(), large, large)
	must(t, err)
	if len(away) > 0 {
		t.Errorf("away at the second try: %v", away)
	}
	if n := of3.since(changed); n > 0 {
		t.Errorf("the old configuration granted %d leases after the change", n)
	}

	back := time.Now()
	_, err = redlock.Reconfigure(t.Context(), large, small)
	must(t, err)
	changedBack := time.Now()
	eventually(t, quarantine+settleTime, "the first configuration grants again",
		func() bool { return of3.since(changedBack) > 20 })
	if n := of5.since(changedBack); n > 0 {
		t.Errorf("the larger set granted %d leases after it was left", n)
	}
	stop()
	wg.Wait()

	all := slices.Concat(of3.all, of5.all)
	wantOneAtATime(t, all)
	wantSilence(t, all, began, changed, quarantine)
	wantSilence(t, all, back, changedBack, quarantine)
	t.Logf("%d leases of three nodes, %d of five", len(of3.all), len(of5.all))
}

// heldWindow is the time for which a holder could rely on its lease.
type heldWindow struct {
	resource   string
	fence      uint64
	asked      time.Time // before the request; a process that waits for the CPU learns of its lease later
	began, end time.Time
}

// heldWindows are the leases of one configuration.
type heldWindows struct {
	mu  sync.Mutex
	all []heldWindow
}

// since counts the leases that were requested after an instant.
func (h *heldWindows) since(at time.Time) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		if w.asked.After(at) {
			n++
		}
	}
	return n
}

// compete takes two resources in turn, for a moment each. Now and then it keeps one until it is lost or renewed.
func (h *heldWindows) compete(ctx context.Context, wg *sync.WaitGroup, l lock.Locker, ttl time.Duration) {
	for i := range 2 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				hold := 2 * time.Millisecond
				if n%50 == 49 {
					hold = ttl
				}
				h.try(ctx, l, fmt.Sprint("job", i), ttl, hold)
			}
		})
	}
}

func (h *heldWindows) try(ctx context.Context, l lock.Locker, resource string, ttl, hold time.Duration) {
	lease, err := l.Acquire(ctx, resource, lock.TTL(ttl), lock.MaxWait(ttl))
	if err != nil {
		select { // refused while the nodes have the other configuration
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
		return
	}
	w := heldWindow{resource: resource, fence: lease.Fence(), began: time.Now()}
	w.asked = w.began.Add(lease.Remaining() - (ttl - engine.Drift(ttl)))
	over := time.NewTimer(hold)
	defer over.Stop()
	for lease.Remaining() > 0 {
		w.end = time.Now()
		select {
		case <-lease.Context().Done():
		case <-over.C:
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	_ = lease.Release(context.WithoutCancel(ctx)) // it may be lost: a change of the set does that
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, w)
}

// wantOneAtATime requires that no two leases of a resource overlap, and that fences increase.
func wantOneAtATime(t *testing.T, all []heldWindow) {
	t.Helper()
	slices.SortFunc(all, func(a, b heldWindow) int { return a.began.Compare(b.began) })
	last := map[string]heldWindow{}
	for _, w := range all {
		if before := last[w.resource]; w.began.Before(before.end) || w.fence <= before.fence {
			t.Errorf("%s: fence %d from %v beside fence %d, valid until %v", w.resource, w.fence, w.began, before.fence,
				before.end)
		}
		last[w.resource] = w
	}
}

// wantSilence requires that no process got a lease between the end of an act and the end of its quarantine.
func wantSilence(t *testing.T, all []heldWindow, began, ended time.Time, quarantine time.Duration) {
	t.Helper()
	first, ok := time.Time{}, false
	for _, w := range all {
		if w.asked.After(ended) && (!ok || w.asked.Before(first)) {
			first, ok = w.asked, true
		}
	}
	if earliest := began.Add(quarantine); !ok || first.Before(earliest) {
		t.Errorf("the first lease after the change began %v after its start, before the quarantine of %v was over",
			first.Sub(began), quarantine)
	}
}

package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/locktest"
)

// onlooker is a node of an observer, which may only peek (E6).
type onlooker struct {
	*locktest.FakeNode
	h *history
}

func (n onlooker) asked(what, key string) {
	n.h.violate("E6 an observer sent %s of %s to %s", what, key, n.Name())
}

func (n onlooker) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	n.asked("acquire", req.Key)
	return n.FakeNode.Acquire(ctx, req)
}

func (n onlooker) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	n.asked("raise", req.Key)
	return n.FakeNode.Raise(ctx, req)
}

func (n onlooker) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	n.asked("extend", req.Key)
	return n.FakeNode.Extend(ctx, req)
}

func (n onlooker) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	n.asked("release", req.Key)
	return n.FakeNode.Release(ctx, req)
}

func (n onlooker) Leave(ctx context.Context, req driver.LeaveRequest) error {
	n.asked("leave", req.Key)
	return n.FakeNode.Leave(ctx, req)
}

// sighting is what an observer was told. Its times are true time since the beginning.
type sighting struct {
	name             string
	seen             election.Observation
	asked, told, end time.Duration // end is NotAfter
}

// watch lets the observers observe every election until stop.
func (h *history) watch(stop <-chan struct{}) *sync.WaitGroup {
	all := new(sync.WaitGroup)
	ctx, cancel := context.WithCancel(context.Background())
	all.Go(func() {
		<-stop
		cancel()
	})
	for i, c := range h.plan.clients {
		for res := range h.plan.resources {
			if c.observes {
				all.Go(func() { h.observe(ctx, i, resourceName(res)) })
			}
		}
	}
	return all
}

func (h *history) observe(ctx context.Context, c int, name string) {
	for seen, err := range election.Observe(ctx, h.clients[c].redis, name, election.Interval(100*time.Millisecond)) {
		h.log("c%d observes %s: %+v, %v", c, name, seen, err)
		if err != nil || seen.Vacant {
			continue
		}
		s := sighting{name: name, seen: seen, told: h.now()}
		s.asked, s.end = seen.SeenAt.Sub(h.began), seen.NotAfter.Sub(h.began)
		h.mu.Lock()
		h.sightings = append(h.sightings, s)
		h.mu.Unlock()
	}
}

// checkSightings: what an observer was told of a leader was no more than is true (E5). A node that forgets or whose
// clock steps can say less or more than that. A grant that takes effect again after its release looks like another one.
func (h *history) checkSightings() {
	if h.plan.wipes || h.plan.steps || h.plan.repeats {
		return
	}
	leases := make(map[string][]*leaseRecord) // by the Acquire that the nodes name
	for _, rec := range h.leases {
		leases[rec.grant.id] = append(leases[rec.grant.id], rec)
		if rec.grant != rec {
			leases[rec.id] = append(leases[rec.id], rec)
		}
	}
	for _, s := range h.sightings {
		grant, latest := leases[s.seen.Leader.Traceparent], h.acquireLog(s.seen.Leader.Traceparent).since
		if grant != nil && !s.seen.Leader.Since.Before(latest) { // else it was an attempt that failed
			h.checkSighting(s, grant)
		}
	}
}

func (h *history) checkSighting(s sighting, grant []*leaseRecord) {
	renewed, over, ended, highest := false, true, time.Duration(0), uint64(0)
	for _, rec := range grant {
		renewed = renewed || rec.renewed > s.asked || rec.returned > s.told
		over = over && rec.gone != 0 && rec.gone < s.asked && rec.grant == rec
		ended = max(ended, rec.ended)
		highest = max(highest, rec.fence)
	}
	switch {
	case s.seen.Term > highest:
		h.violate("E5 an observer was told of term %d, and it is %d:\n  %+v\n  %v", s.seen.Term, highest, s, grant)
	case !renewed && ended > s.end:
		h.violate("E5 a term was valid %v after the end that an observer was told:\n  %+v\n  %v", ended-s.end, s, grant)
	case over:
		h.violate("E5 an observer was told of a leader that had resigned:\n  %+v\n  %v", s, grant)
	}
}

// checkUntouched: with nobody else there, an observer leaves each node as it was, whether there is a leader or not
// (E6).
func (h *history) checkUntouched() {
	watcher := slices.IndexFunc(h.plan.clients, func(c clientPlan) bool { return c.observes })
	if watcher < 0 {
		return
	}
	for res := range h.plan.resources {
		name := resourceName(res)
		h.checkPeek(watcher, name)
		lease, err := h.clients[0].redis.Acquire(context.Background(), name, lock.NoRenew(), lock.TTL(simMaxTTL))
		if err != nil {
			h.violate("I8 client 0 did not get %s with nobody else there: %v", name, err)
			continue
		}
		time.Sleep(simNodeTimeout) // the slowest grant has arrived
		h.checkPeek(watcher, name)
		_ = lease.Release(context.Background())
		time.Sleep(simNodeTimeout)
	}
}

func (h *history) checkPeek(watcher int, name string) {
	before := h.footprint()
	seen, err := h.clients[watcher].redis.Peek(context.Background(), name)
	if after := h.footprint(); after != before {
		h.violate("E6 a peek at %s (%+v, %v) changed the nodes from\n  %s\nto\n  %s", name, seen, err, before, after)
	}
}

// footprint is what the nodes store, except for times.
func (h *history) footprint() string {
	var b strings.Builder
	for _, s := range h.servers {
		fmt.Fprintf(&b, "%s: %s, %d waiters, %d reservations;", s.Name(), s.Marker(), s.QueueLength(), s.Reservations())
		for _, held := range s.Locks() {
			fmt.Fprintf(&b, " %s %.6s:%d;", held.Key, held.Token, held.Counter)
		}
		for _, name := range h.plan.locks() {
			fmt.Fprintf(&b, " %d", s.Counter(lock.DefaultPrefix+name))
		}
		b.WriteString("\n")
	}
	return b.String()
}

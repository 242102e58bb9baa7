package main

import (
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// ledger is what the services would share if they were honest with each other: it
// checks every acquisition against those before, at the instant it happens.
type ledger struct {
	unfenced bool // leases have no fencing tokens

	mu        sync.Mutex
	entries   map[string]*entry
	total     int
	followers map[*follower]struct{}
}

// entry is one resource's.
type entry struct {
	resource     string
	unfenced     bool
	acquisitions int
	handoffs     int // acquisitions by another instance than the one before
	lost         int
	disordered   int // acquisitions whose fencing token did not increase
	overlaps     int // acquisitions while another lease was valid
	waits        histogram

	holder   lock.Lease // nil while nobody holds it
	instance string     // of the latest acquisition
	fence    uint64     // the highest so far
}

// grant is one acquisition.
type grant struct {
	lease    lock.Lease
	instance string
	waited   time.Duration
	before   uint64    // result of fence before Acquire was called
	at       time.Time // when it was recorded; for followers
}

// anyResource is what to follow for the grants of all.
const anyResource = ""

// follower receives every grant of a resource.
type follower struct {
	resource string
	grants   chan grant
}

// newLedger makes the ledger of a system whose leases have fencing tokens, or have none.
func newLedger(fenced bool) *ledger {
	return &ledger{unfenced: !fenced, entries: make(map[string]*entry), followers: make(map[*follower]struct{})}
}

func (l *ledger) entry(resource string) *entry {
	e, ok := l.entries[resource]
	if !ok {
		e = &entry{resource: resource, unfenced: l.unfenced}
		l.entries[resource] = e
	}
	return e
}

// fence is the highest fencing token of a finished acquisition: one that begins
// now must get a higher one.
func (l *ledger) fence(resource string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entry(resource).fence
}

// granted records an acquisition. Call it at once after the grant, and ended before
// the release.
func (l *ledger) granted(g grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(g.lease.Resource())
	valid := isValid(g.lease)
	// A caller that was held up between Acquire and here may find the next holder's
	// higher token: that is disorder only while its own lease is still valid.
	if !e.unfenced && (g.lease.Fence() <= g.before || valid && g.lease.Fence() <= e.fence) {
		e.disordered++
	}
	if valid && isValid(e.holder) {
		e.overlaps++
	}
	if e.acquisitions > 0 && e.instance != g.instance {
		e.handoffs++
	}
	e.acquisitions++
	e.waits.add(g.waited)
	e.holder, e.instance, e.fence = g.lease, g.instance, max(e.fence, g.lease.Fence())
	l.total++
	g.at = time.Now()
	l.tell(g)
}

// isValid asks the clock, not the context: that is cancelled by a timer, which may
// be a moment late on a busy machine.
func isValid(lease lock.Lease) bool { return lease != nil && lease.Remaining() > 0 }

// ended records that the holder is done with the lease.
func (l *ledger) ended(lease lock.Lease, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(lease.Resource())
	if lost {
		e.lost++
	}
	if e.holder == lease {
		e.holder = nil
	}
}

// follow returns the grants of a resource, or of anyResource, from now on, as many as fit; stop ends it.
func (l *ledger) follow(resource string) (grants <-chan grant, stop func()) {
	f := &follower{resource: resource, grants: make(chan grant, 64)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followers[f] = struct{}{}
	return f.grants, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.followers, f)
	}
}

// tell never waits for a follower: the services come first.
func (l *ledger) tell(g grant) {
	for f := range l.followers {
		if f.resource == anyResource || f.resource == g.lease.Resource() {
			select {
			case f.grants <- g:
			default:
			}
		}
	}
}

// acquisitions is how many there were, and held how many leases are valid now.
func (l *ledger) acquisitions() (total, held int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if isValid(e.holder) {
			held++
		}
	}
	return l.total, held
}

// close returns the entries of resources that were acquired, the busiest first.
// Nothing may be recorded afterwards.
func (l *ledger) close() []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*entry
	for _, e := range l.entries {
		if e.acquisitions > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return b.acquisitions - a.acquisitions })
	return all
}

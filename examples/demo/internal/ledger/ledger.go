// Package ledger checks every acquisition of the demo against those before.
package ledger

import (
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Ledger is what the services would share if they were honest with each other: it
// checks every acquisition against those before, at the instant it happens.
type Ledger struct {
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

// Grant is one acquisition.
type Grant struct {
	Lease    lock.Lease
	Instance string
	Waited   time.Duration
	Before   uint64    // result of fence before Acquire was called
	At       time.Time // when it was recorded; for followers
}

// AnyResource is what to follow for the grants of all.
const AnyResource = ""

// follower receives every grant of a resource.
type follower struct {
	resource string
	grants   chan Grant
}

// New makes the ledger of a system whose leases have fencing tokens, or have none.
func New(fenced bool) *Ledger {
	return &Ledger{unfenced: !fenced, entries: make(map[string]*entry), followers: make(map[*follower]struct{})}
}

func (l *Ledger) entry(resource string) *entry {
	e, ok := l.entries[resource]
	if !ok {
		e = &entry{resource: resource, unfenced: l.unfenced}
		l.entries[resource] = e
	}
	return e
}

// Fence is the highest fencing token of a finished acquisition: one that begins
// now must get a higher one.
func (l *Ledger) Fence(resource string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entry(resource).fence
}

// Granted records an acquisition. Call it at once after the grant, and Ended before
// the release.
func (l *Ledger) Granted(g Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(g.Lease.Resource())
	valid := isValid(g.Lease)
	// A caller that was held up between Acquire and here may find the next holder's
	// higher token: that is disorder only while its own lease is still valid.
	if !e.unfenced && (g.Lease.Fence() <= g.Before || valid && g.Lease.Fence() <= e.fence) {
		e.disordered++
	}
	if valid && isValid(e.holder) {
		e.overlaps++
	}
	if e.acquisitions > 0 && e.instance != g.Instance {
		e.handoffs++
	}
	e.acquisitions++
	e.waits.add(g.Waited)
	e.holder, e.instance, e.fence = g.Lease, g.Instance, max(e.fence, g.Lease.Fence())
	l.total++
	g.At = time.Now()
	l.tell(g)
}

// isValid asks the clock, not the context: that is cancelled by a timer, which may
// be a moment late on a busy machine.
func isValid(lease lock.Lease) bool { return lease != nil && lease.Remaining() > 0 }

// Ended records that the holder is done with the lease.
func (l *Ledger) Ended(lease lock.Lease, lost bool) {
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

// Follow returns the grants of a resource, or of AnyResource, from now on, as many as fit; stop ends it.
func (l *Ledger) Follow(resource string) (grants <-chan Grant, stop func()) {
	f := &follower{resource: resource, grants: make(chan Grant, 64)}
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
func (l *Ledger) tell(g Grant) {
	for f := range l.followers {
		if f.resource == AnyResource || f.resource == g.Lease.Resource() {
			select {
			case f.grants <- g:
			default:
			}
		}
	}
}

// Acquisitions is how many there were, and held how many leases are valid now.
func (l *Ledger) Acquisitions() (total, held int) {
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
func (l *Ledger) close() []*entry {
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

// Summary is what came of all acquisitions.
type Summary struct {
	Table        []string // a line for each resource, headed by its columns
	Acquisitions int
	Fenced       bool // every fencing token was higher than the one before, unless Broken
	Broken       bool // two leases were valid at once, or a fencing token did not increase
}

// Close ends the ledger: nothing may be recorded afterwards.
func (l *Ledger) Close() Summary {
	entries := l.close()
	all := sum(entries)
	return Summary{
		Table: table(entries), Acquisitions: all.acquisitions, Fenced: !all.unfenced,
		Broken: all.disordered > 0 || all.overlaps > 0,
	}
}

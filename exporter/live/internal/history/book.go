// Package history remembers for a while who held contended resources.
package history

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/lock"
)

const historiesPerBook = 8 // the latest that somebody waited for

// Book has the histories of a few resources. Its zero value is empty. It is not safe for concurrent use.
type Book struct {
	contended map[names.ID]*history // nil until somebody waits
}

// Empty reports whether nobody has waited for anything.
func (b *Book) Empty() bool { return len(b.contended) == 0 }

// Contend records that a call begins to wait, or has waited, and behind which holder if it was refused: one in
// another process, or a lease of the Board.
func (b *Book) Contend(of names.ID, behind *lock.HeldError, elsewhere bool, now time.Time) {
	h := b.contended[of]
	if h == nil {
		h = new(history)
		b.keep(of, h)
	}
	h.waited = now
	if behind != nil {
		h.addTold(behind, elsewhere, now)
	}
}

// keep makes room by forgetting the resource that nobody has waited for the longest.
func (b *Book) keep(of names.ID, h *history) {
	if b.contended == nil {
		b.contended = make(map[names.ID]*history)
	}
	if len(b.contended) >= historiesPerBook {
		var oldest *names.ID
		for known, other := range b.contended {
			if oldest == nil || other.waited.Before(b.contended[*oldest].waited) {
				oldest = &known
			}
		}
		delete(b.contended, *oldest)
	}
	b.contended[of] = h
}

// Has reports whether somebody has waited for a resource, so that its leases are recorded.
func (b *Book) Has(of names.ID) bool { return b.contended[of] != nil }

// Lease is a lease of the Board that has ended.
type Lease struct {
	Instance, CallSite, Trace string
	Since, Until              time.Time
	Lost                      bool // it ended without a release: the nodes have it until its TTL has run out
}

// Ended records a lease that ends, if somebody waited for its resource.
func (b *Book) Ended(of names.ID, l Lease) {
	if h := b.contended[of]; h != nil {
		h.add(tenure{
			instance: l.Instance, callSite: l.CallSite, trace: l.Trace, since: l.Since, until: l.Until, kept: l.Lost,
		})
	}
}

// MayHaveEnded reports whether a lease of that name was released since, or its end would not have been recorded.
func (b *Book) MayHaveEnded(of names.ID, instance string, since time.Time) bool {
	h := b.contended[of]
	return h == nil || h.endedSince(instance, since)
}

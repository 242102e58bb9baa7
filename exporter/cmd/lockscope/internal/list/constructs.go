package list

import (
	"slices"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	scannerlisting "github.com/lockscope/lockscope/scanner/listing"
)

// construct is what a lock is part of, as its holder or a waiter says.
func (k *entry) construct() records.Construct {
	if f := k.in.waits.of(k.Key); f != nil && k.Hold.Kind == "" {
		return f.Construct()
	}
	return k.Construct()
}

// countSlots counts the slots in use of each semaphore, before any lock is left out of the list.
func (p *part) countSlots() { p.inUse = scannerlisting.SlotsInUse(p.listing.Locks) }

// slotsInUse is how many slots of the lock's semaphore are held; -1 if that is unknown. Of a semaphore that callers
// wait for, all slots were read. Of others, only those in the list are known.
func (k *entry) slotsInUse() int {
	if f := k.in.waits.of(k.Key); f != nil && f.Slots != nil {
		return len(f.Slots)
	}
	key, _, ok := k.Semaphore()
	if !ok || !k.allSlotsWanted() || k.in.listing.Omitted > 0 || k.in.listing.Truncated {
		return -1
	}
	return k.in.inUse[key]
}

// allSlotsWanted reports whether the filter left out no slot of the lock's semaphore.
func (k *entry) allSlotsWanted() bool {
	return !slices.ContainsFunc(records.SlotsOf(k.Resource, k.construct()), func(slot string) bool {
		return !k.in.wanted(slot)
	})
}

func (k *entry) constructText() string {
	of := k.construct()
	if k.readWrite() {
		holder := k.Hold.Kind
		if !k.Held() {
			holder = ""
		}
		return ui.ReadWrite(k.readers(), holder)
	}
	fence := k.Hold.Fence
	if !k.Held() {
		fence = 0
	}
	return ui.Construct(of, fence, k.slotsInUse())
}

// readWrite reports whether the lock is a read/write lock.
func (k *entry) readWrite() bool {
	kind := k.construct().Kind
	return kind == lock.KindRead || kind == lock.KindWrite
}

// readers is how many hold the lock.
func (k *entry) readers() int {
	if k.Readers == nil {
		return 0
	}
	return k.Readers.Count
}

// holderText names the only holder, or counts the readers.
func (k *entry) holderText() string {
	if !k.readWrite() || k.readers() == 0 {
		return ui.Holder(k.Hold, k.knownTTL())
	}
	var names []string
	for _, r := range k.Readers.First {
		names = append(names, ui.Holder(r.Hold, r.TTL))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 || k.Readers.Count > len(k.Readers.First) {
		return inspect.Count(k.Readers.Count, "reader")
	}
	return holdersText(names)
}

// constructs reports whether a lock is part of one, so that the table has a column for it.
func (l *overview) constructs() bool {
	return slices.ContainsFunc(l.locks, func(k entry) bool { return k.construct().Kind != "" })
}

package list

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// tableRow is a lock, or the slots of one semaphore.
type tableRow []entry

// rows are those of the table. The slots of a semaphore are one row, at the place of the first of them, unless each is
// to have its own.
func (l *overview) rows(slots bool) (all []tableRow) {
	type semaphore struct {
		in  *part
		key string
	}
	at := make(map[semaphore]int)
	for _, k := range l.locks {
		key, _, ok := k.Semaphore()
		if !ok || slots {
			all = append(all, tableRow{k})
			continue
		}
		of := semaphore{k.in, key}
		if i, known := at[of]; known {
			all[i] = append(all[i], k)
			continue
		}
		at[of] = len(all)
		all = append(all, tableRow{k})
	}
	return all
}

// whole reports whether a row is about a semaphore, not about one slot of it: if a filter may have left out the other
// slots, the only one that is listed keeps its name.
func (r tableRow) whole() bool {
	_, _, ok := r[0].Semaphore()
	return ok && (len(r) > 1 || r[0].slotsInUse() >= 0)
}

// semaphoreRow has the worst of its slots in each column: the fewest nodes, the longest hold and the longest TTL.
func semaphoreRow(r tableRow) []string {
	var holders, remarks []string
	nodes, held, ttl := &r[0], time.Duration(-1), time.Duration(0)
	for i := range r {
		k := &r[i]
		if k.Held() {
			holders = append(holders, ui.Holder(k.Hold, k.knownTTL()))
		}
		if !k.Hold.Since.IsZero() {
			held = max(held, k.HeldFor())
		}
		if left := k.ttl(); ttl >= 0 && (left < 0 || left > ttl) {
			ttl = left
		}
		if k.Nodes < nodes.Nodes {
			nodes = k
		}
		if _, slot, _ := k.Semaphore(); k.remark() != "" {
			remarks = append(remarks, fmt.Sprintf("slot %d: %s", slot, k.remark()))
		}
	}
	slices.Sort(holders)
	holders = slices.Compact(holders)
	name, _, _ := records.ParseSlot(r[0].Resource)
	return []string{
		inspect.KeyText(name), r[0].constructText(), nodes.nodesText(), holdersText(holders), ageText(held),
		r[0].ttlText(ttl), r[0].in.waits.semaphoreText(&r[0]), strings.Join(remarks, "; "),
	}
}

// holdersText names the only holder, or counts them: one with several slots counts once.
func holdersText(holders []string) string {
	switch len(holders) {
	case 0:
		return ui.Unknown
	case 1:
		return holders[0]
	}
	return inspect.Count(len(holders), "holder")
}

func ageText(held time.Duration) string {
	if held < 0 {
		return ui.Unknown
	}
	return inspect.Short(held)
}

// semaphoreText is the column of waiters: of all slots together, as callers go on with the first one that is free.
func (w waits) semaphoreText(k *entry) string {
	key, _, _ := k.Semaphore()
	var callers int
	var longest time.Duration
	for i := range w.Locks {
		f := &w.Locks[i]
		if of, ok := records.SemaphoreOf(f.Key); ok && of == key && f.Construct().Kind == lock.KindSemaphore {
			callers, longest = callers+f.Callers, max(longest, f.Longest())
		}
	}
	switch {
	case callers == 0 && fleet.QueuesErr(w.Waits) != nil:
		return ui.Unknown
	case callers == 0:
		return "-"
	}
	return fmt.Sprintf("%d, %s", callers, waitText(longest))
}

// waitedFor is what the table of waiters calls a lock: by the semaphore, if it is a slot.
func waitedFor(f *listing.WaitedFor) string {
	name, ok := records.SemaphoreOf(f.Resource)
	if !ok || f.Construct().Kind != lock.KindSemaphore {
		return inspect.KeyText(f.Resource)
	}
	return inspect.KeyText(name)
}

// construct is what a lock is part of, as its holder or a waiter says.
func (k *entry) construct() records.Construct {
	if f := k.in.waits.of(k.Key); f != nil && k.Hold.Kind == "" {
		return f.Construct()
	}
	return k.Construct()
}

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

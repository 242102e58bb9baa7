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

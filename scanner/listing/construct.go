package listing

import (
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Construct is what the lock is part of, as its holder says or, if nobody holds it, a waiter.
func (w *WaitedFor) Construct() records.Construct {
	if w.Lock != nil && w.Lock.Hold.Kind != "" {
		return w.Lock.Construct()
	}
	for _, q := range w.Queue {
		if q.Says != nil && q.Says.Kind != "" {
			return records.ConstructOf(q.Says.Holder)
		}
	}
	return records.Construct{}
}

// Construct is what the lock is part of, as its holder says.
func (l *Lock) Construct() records.Construct { return records.ConstructOf(l.Hold.Holder) }

// slotKeys returns the keys of all slots of the semaphore that callers wait for; nil for other locks, and for a
// semaphore with one slot.
func (w *WaitedFor) slotKeys() []string { return records.SlotsOf(w.Key, w.Construct()) }

// ReadSlots sets the Slots of each lock that is part of a semaphore. lockOf returns the lock with a key, nil if no node
// has it, and whether the nodes were asked. Where they were not asked for all slots, it leaves Slots nil.
func ReadSlots(all []WaitedFor, lockOf func(key string) (l *Lock, asked bool)) {
	for i := range all {
		w := &all[i]
		keys, names := w.slotKeys(), records.SlotsOf(w.Resource, w.Construct())
		if slices.ContainsFunc(keys, func(key string) bool { _, asked := lockOf(key); return !asked }) {
			continue
		}
		for slot, key := range keys {
			if l, _ := lockOf(key); l != nil && l.Held() {
				held := *l
				held.Resource = names[slot]
				w.Slots = append(w.Slots, held)
			}
		}
	}
}

// OtherSlots returns the keys of slots that ReadSlots asks for and that nobody waits for, each once and in order. It
// returns at most limit.
func OtherSlots(all []WaitedFor, limit int) (keys []string) {
	known := make(map[string]bool, len(all))
	for i := range all {
		known[all[i].Key] = true
	}
	for i := range all {
		for _, key := range all[i].slotKeys() {
			if !known[key] && len(keys) < limit {
				known[key] = true
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// Semaphore returns the key without the number of the slot, which all slots of a semaphore have in common. ok is false
// for locks that are no slots.
func (l *Lock) Semaphore() (key string, slot int, ok bool) {
	if l.Hold.Kind != lock.KindSemaphore {
		return "", 0, false
	}
	key, slot, ok = records.ParseSlot(l.Key)
	return key, slot, ok && slot < l.Hold.Slots
}

// SlotsInUse counts the slots that are held, by semaphore.
func SlotsInUse(locks []Lock) map[string]int {
	inUse := make(map[string]int)
	for i := range locks {
		if key, _, ok := locks[i].Semaphore(); ok && locks[i].Held() {
			inUse[key]++
		}
	}
	return inUse
}

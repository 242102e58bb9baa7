// Package claimlist is what the drivers share whose lock is an ordered list of claims, in a system that keeps the order:
// etcd's revisions, ZooKeeper's sequence numbers. A claim is made once and never moves, so the list alone says who holds
// the lock and who is next. The package knows no client and sends nothing.
package claimlist

import "strconv"

// Holders returns how many claims at the front hold the lock: one, or every reader that has only readers in front.
//
// A reader does not hold the lock beside readers that have a writer behind them and in front of it. If it did, readers that
// come one after the other would keep the writer out for ever.
func Holders[C any](list []C, reads func(C) bool) int {
	n := 0
	for n < len(list) && reads(list[n]) {
		n++
	}
	return min(max(n, 1), len(list))
}

// Rivals returns the claims in front of one that keep it from the lock: all of them, or those that are no readers' if the
// claim is a reader's itself.
func Rivals[C any](front []C, reads bool, isReader func(C) bool) []C {
	if !reads {
		return front
	}
	var rivals []C
	for _, c := range front {
		if !isReader(c) {
			rivals = append(rivals, c)
		}
	}
	return rivals
}

// ParseSlots reads the number of slots of a semaphore, as a system stores it. ok is false for any other text.
func ParseSlots(text []byte) (slots int, ok bool) {
	slots, err := strconv.Atoi(string(text))
	return slots, err == nil && slots >= 1
}

// Resizes reports whether a resize from one number of slots to another writes, where known stands: 0 if no number does. A
// third number is another operator's. With 0 for to, the resize only asks.
func Resizes(known, from, to int) bool {
	return to != 0 && (known == 0 || known == from || known == to)
}

package main

import (
	"errors"
	"sync"
)

// errTwoHolders is the failure that no lock may have.
var errTwoHolders = errors.New("two holders at once")

// ledger is who held the contended resource in one stretch.
type ledger struct {
	mu       sync.Mutex
	inside   int
	last     int
	handoffs int
	each     []int
}

func newLedger(callers int) *ledger { return &ledger{last: -1, each: make([]int, callers)} }

// enter notes that a caller holds the resource. It fails if somebody else does, and is
// to be undone by leave either way.
func (l *ledger) enter(caller int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside++; l.inside > 1 {
		return errTwoHolders
	}
	if caller != l.last {
		l.handoffs++
	}
	l.last = caller
	l.each[caller]++
	return nil
}

// leave comes before the release is sent: from then on somebody else may hold it.
func (l *ledger) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inside--
}

// fairness is Jain's index: 1 if all held it equally often, 1/n if one of n always did,
// and 0 if nobody ever did.
func (l *ledger) fairness() float64 {
	var sum, squares float64
	for _, n := range l.each {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(l.each)) * squares)
}

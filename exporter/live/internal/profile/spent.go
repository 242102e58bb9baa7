package profile

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Unknown is the class of the time of a Locker that reports no waits.
const Unknown locktrace.Wait = "unknown"

// several stands for the instances of holders that did not fit.
const several = "several"

// HolderOf is whom a call of that class waits for: the blocker of that time. It is zero for all other classes.
func HolderOf(class locktrace.Wait, blocker *lock.HeldError) Holder {
	switch {
	case class != locktrace.WaitHolder:
		return Holder{}
	case blocker == nil:
		return Holder{kind: notKnown}
	case blocker.HandedOver:
		return Holder{kind: handedOver}
	case blocker.Holder.Instance == "" && blocker.Remaining < 0:
		return Holder{kind: unnamedForever}
	case blocker.Holder.Instance == "":
		return Holder{kind: unnamed}
	}
	return Holder{Instance: shortName(blocker.Holder.Instance), CallSite: shortName(blocker.Holder.CallSite)}
}

// Holder is a process and the place in its code that took the lock.
type Holder struct {
	Instance string
	CallSite string // empty without lock.WithCallSites
	kind     holderKind
}

// holderKind says why a holder has no name.
type holderKind uint8

const (
	named          holderKind = iota
	unnamed                   // the lock's value does not name its owner
	unnamedForever            // nor does it expire
	handedOver                // nobody holds it; it is reserved for the next waiter
	notKnown                  // another caller of this process is first, and is asking the nodes
	otherHolders              // rows that did not fit
	waiter                    // it is the holder of a waiter's row
	otherWaiters              // rows that did not fit
)

// Name is what views call the holder; "" if none is known.
func (h Holder) Name() string {
	switch h.kind {
	case handedOver:
		return state.HandedOver
	case notKnown:
		return ""
	}
	return state.HolderName(h.Instance, h.kind == unnamedForever)
}

// Counts reports whether somebody holds the lock.
func (h Holder) Counts() bool { return h.kind <= unnamedForever }

// maxSpent bounds how many holders one call has rows for.
const maxSpent = 8

// Spent is the time of one call, by class and holder. It never shrinks, and its rows keep their order.
type Spent []Stretch

// Stretch is time of one class behind one holder.
type Stretch struct {
	Class    locktrace.Wait
	Instance string // of the holder, if it is known
	Took     time.Duration
}

// Add adds time. Holders that do not fit share a row for each class.
func (s *Spent) Add(t Stretch) {
	if t.Took < 0 {
		t.Took = 0
	}
	for i := range *s {
		if row := &(*s)[i]; row.Class == t.Class && row.Instance == t.Instance {
			row.Took += t.Took
			return
		}
	}
	if len(*s) >= maxSpent && t.Instance != "" && t.Instance != several {
		t.Instance = several
		s.Add(t)
		return
	}
	*s = append(*s, t)
}

// AddSince adds what s has become since it was earlier.
func (s *Spent) AddSince(now, earlier Spent) {
	for i, t := range now {
		if i < len(earlier) {
			t.Took -= earlier[i].Took
		}
		if t.Took > 0 {
			s.Add(t)
		}
	}
}

// first is the row of the first cause that is not the network, or 0.
func (s Spent) first() int {
	for i, t := range s {
		if t.Class != locktrace.WaitNetwork {
			return i
		}
	}
	return 0
}

// Names that fit are not copied. A table clones them when it keeps them.
const (
	longResource = 2 * lock.MaxResourceLength
	longName     = 256
)

func shortName(name string) string {
	if len(name) <= longName {
		return name
	}
	return text.Name(name)
}

func short(of text.ID) text.ID {
	of.Backend = shortName(of.Backend)
	if len(of.Resource) > longResource {
		of.Resource = text.Resource(of.Resource)
	}
	return of
}

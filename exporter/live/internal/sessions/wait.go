package sessions

import (
	"math"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Wait is the state of a waiting call. Names may be empty if they are unknown.
type Wait struct {
	Backend, Resource  string
	Instance, CallSite string         // of the waiter
	Class              locktrace.Wait // "" if unknown, and in a chain
	Kind               lock.Kind      // what the resource is part of; "" in a chain
	Slots              int            // of the semaphore
	Holder, HolderSite string         // instance and call site of the holder that it waits for
	Next               *Wait          // what the holder waits for; nil: nothing known
}

// Other is the resource of waits in states for which there was no room.
const Other = "(others)"

// classes are in the order in which they are shown. The last one is of Lockers that report nothing.
var classes = [...]locktrace.Wait{
	locktrace.WaitHolder, locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitNetwork, locktrace.WaitBackingOff, "",
}

func classNumber(c locktrace.Wait) uint16 {
	for i, known := range classes {
		if c == known {
			return uint16(i)
		}
	}
	return uint16(len(classes) - 1)
}

// packed is a Wait with the numbers of its names. It takes 32 bytes.
type packed struct {
	backend, resource  uint32
	instance, callSite uint32
	holder, holderSite uint32
	next               uint32 // a state; 0: none
	class              uint16
	kind, slots        uint8
}

// kinds are numbered by their place here.
var kinds = [...]lock.Kind{"", lock.KindElection, lock.KindSet, lock.KindSemaphore, lock.KindRead, lock.KindWrite}

func packedOf(w *Wait, next uint32) packed {
	p := packed{class: classNumber(w.Class), next: next, slots: uint8(min(w.Slots, math.MaxUint8))}
	for i, known := range kinds {
		if w.Kind == known {
			p.kind = uint8(i)
		}
	}
	return p
}

// field is a name of a state.
type field struct {
	id   *uint32
	text string
}

func (s *packed) fields(w *Wait) [6]field {
	return [...]field{
		{&s.backend, w.Backend}, {&s.resource, w.Resource}, {&s.instance, w.Instance}, {&s.callSite, w.CallSite},
		{&s.holder, w.Holder}, {&s.holderSite, w.HolderSite},
	}
}

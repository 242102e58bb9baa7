package spec

import (
	"fmt"
	"slices"
)

// Steps with which explorations of constructs begin.
var (
	onePermit = []string{"client 1 asks for slot 0", "node A grants slot 0 to client 1",
		"node B grants slot 0 to client 1", "client 1 has a permit of slot 0"}
	anotherPermit = []string{"client 1 asks for slot 1", "node A grants slot 1 to client 1",
		"node B grants slot 1 to client 1", "client 1 has a permit of slot 1"}
	twoAsleep = slices.Concat(asleep(3, 0, 1), asleep(4, 1, 0))
)

// asleep is a client of a semaphore that comes, is refused these slots, and waits.
func asleep(client int, slots ...int) (steps []string) {
	steps = append(steps, fmt.Sprintf("client %d comes, and asks for slot %d", client, slots[0]))
	for _, slot := range slots {
		steps = append(steps,
			fmt.Sprintf("node A refuses slot %d to client %d", slot, client),
			fmt.Sprintf("node B refuses slot %d to client %d", slot, client),
			fmt.Sprintf("client %d does not get slot %d, and goes on", client, slot))
	}
	return steps
}

func heldConstructs() (quick, slow []Case) {
	quick = []Case{
		newCase("permits of one k", &Permits{Callers: "222", Old: 2, TTL: 2, Renewed: true}),
		newCase("a caller with another k", &Permits{Callers: "112", Old: 1, TTL: 2, Renewed: true}),
		newCase("k grows", &Permits{Callers: "122", Old: 1, New: 2, TTL: 2}),
		newCase("k shrinks", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Renewed: true}),
		newCase("a waiter", &Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1}),
		newCase("two waiters for one slot",
			&Waiters{Slots: 1, Waiting: 2, Split: true, Window: 2, TTL: 2, Bound: 2}),
		newCase("a wake-up that is lost",
			&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Unheard: 1, Bound: 3}),
		newCase("a crash", &Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Crashes: 1, Bound: 3}),
		newCase("a release that is lost",
			&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Ignored: 1, Bound: 3}),
		newCase("a gate that loses its queue",
			&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Forgets: 1, Bound: 3}),
		newCase("a queue for each slot", &Waiters{Slots: 2, Waiting: 1, PerSlot: true, Poll: 2, Window: 2, TTL: 2,
			Crashes: 1, Unheard: 1, Bound: 3}),
	}
	slow = []Case{
		newCase("k shrinks under three", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Renewed: true}),
		newCase("k shrinks, and a node forgets it", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Wipes: 1}),
		newCase("k and a node that forgets", &Permits{Callers: "222", Old: 2, TTL: 2, Wipes: 1}),
		newCase("four clients", &Permits{Callers: "2222", Old: 2, TTL: 2}),
		newCase("a waiter, and votes that split",
			&Waiters{Slots: 2, Waiting: 1, Split: true, Window: 2, TTL: 2, Bound: 1}),
		newCase("two waiters", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, twoAsleep...),
		newCase("a waiter that gives up",
			&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, GiveUps: 1, Bound: 2}, twoAsleep...),
		newCase("a waiter, and one that comes",
			&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, asleep(3, 0, 1)...),
		newCase("two waiters, a crash and a wake-up that is lost", &Waiters{Slots: 2, Waiting: 2, Poll: 2, Window: 2,
			TTL: 2, Crashes: 1, Unheard: 1, Bound: 4}, twoAsleep...),
		newCase("two waiters, and a queue for each slot", &Waiters{Slots: 2, Waiting: 2, PerSlot: true, Poll: 2,
			Window: 2, TTL: 2, Crashes: 1, Bound: 4}, twoAsleep...),
	}
	return quick, slow
}

func brokenConstructs() []Case { return slices.Concat(brokenPermits(), brokenWaiters()) }

func brokenPermits() []Case {
	type R = PermitsRules
	return []Case{
		// 49: three permits, two on each node.
		newCase("CountPerNode", &Permits{Callers: "222", Old: 2, TTL: 2, Rules: R{CountPerNode: true}}, onePermit...),
		// 50: who believes in more slots takes one more.
		newCase("KUnchecked", &Permits{Callers: "112", Old: 1, TTL: 2, Rules: R{KUnchecked: true}}),
		// 51: a slot that is no longer there is renewed for ever.
		newCase("ExtendsUnchecked", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Renewed: true,
			Rules: R{ExtendsUnchecked: true}}, anotherPermit...),
		// 52: a node forgets, and has the old k with the one that never heard of the new.
		newCase("MajorityIsEnough", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Wipes: 1,
			Rules: R{MajorityIsEnough: true}}),
		// 53: permits of the larger k are valid still.
		newCase("ShrunkWithoutWait", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2,
			Rules: R{ShrunkWithoutWait: true}}, onePermit...),
		// 39: as a lock.
		newCase("NoQuarantine", &Permits{Callers: "222", Old: 2, TTL: 2, Wipes: 1, Rules: R{NoQuarantine: true}}),
	}
}

func brokenWaiters() []Case {
	type R = WaitersRules
	released := func(slots ...int) (steps []string) {
		for _, slot := range slots {
			steps = append(steps, fmt.Sprintf("client %d releases slot %d", slot+1, slot),
				fmt.Sprintf("node A carries out the release of slot %d by client %d", slot, slot+1),
				fmt.Sprintf("node B carries out the release of slot %d by client %d", slot, slot+1))
		}
		return steps
	}
	one, two := asleep(3, 0, 1), twoAsleep
	return []Case{
		// 54: a waiter queues for a slot, and another becomes free.
		newCase("QueuePerSlot",
			&Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{QueuePerSlot: true}}),
		// 55: two slots become free, and one waiter is named.
		newCase("ReservationWithoutSlot", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{ReservationWithoutSlot: true}}, two...),
		// 56: a slot that has refused becomes free before its waiter is in the queue.
		newCase("QueuedLate", &Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{QueuedLate: true}}),
		// 57: a waiter that was named in vain is in no queue.
		newCase("NotRejoined", &Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{NotRejoined: true}}),
		newCase("NoRetry", &Waiters{Slots: 1, Waiting: 2, Split: true, Window: 2, TTL: 2, Bound: 2,
			Rules: R{NoRetry: true}}),
		// 58: a slot is kept for somebody who has another, or has gone.
		newCase("NotPassedOn", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, GiveUps: 1, Bound: 2,
			Rules: R{NotPassedOn: true}}, two...),
		newCase("NoLeaveAfterGrant", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{NoLeaveAfterGrant: true}}, append(slices.Clip(one), "client 1 releases slot 0",
			"node A carries out the release of slot 0 by client 1", "client 2 releases slot 1",
			"node A carries out the release of slot 1 by client 2",
			"node B carries out the release of slot 1 by client 2")...),
		newCase("LeaveOvertakes", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{LeaveOvertakes: true}}, slices.Concat(one, released(1))...),
		newCase("NoPoll", &Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Unheard: 1, Bound: 3,
			Rules: R{NoPoll: true}}),
		// 54: without the capability, a look at all slots is what is instead.
		newCase("LooksAtPreferred", &Waiters{Slots: 2, Waiting: 1, PerSlot: true, Poll: 2, Window: 2, TTL: 2,
			Bound: 3, Rules: R{LooksAtPreferred: true}}),
	}
}

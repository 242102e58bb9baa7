package constructs

import (
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// twoAsleep are the steps to two clients that wait.
var twoAsleep = slices.Concat(asleep(3, 0, 1), asleep(4, 1, 0))

// WaitersCases are the explorations of [Waiters].
func WaitersCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("a waiter", &Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1}),
			explore.NewCase("two waiters for one slot",
				&Waiters{Slots: 1, Waiting: 2, Split: true, Window: 2, TTL: 2, Bound: 2}),
			explore.NewCase("a wake-up that is lost",
				&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Unheard: 1, Bound: 3}),
			explore.NewCase("a crash", &Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Crashes: 1, Bound: 3}),
			explore.NewCase("two waiters for one slot, a crash and a wake-up that is lost",
				&Waiters{Slots: 1, Waiting: 2, Poll: 2, Window: 2, TTL: 2, Crashes: 1, Unheard: 1, Bound: 3}),
			explore.NewCase("a release that is lost",
				&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Ignored: 1, Bound: 3}),
			explore.NewCase("a gate that loses its queue",
				&Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Forgets: 1, Bound: 3}),
			explore.NewCase("a queue for each slot", &Waiters{Slots: 2, Waiting: 1, PerSlot: true, Poll: 2, Window: 2, TTL: 2,
				Crashes: 1, Unheard: 1, Bound: 3}),
		},
		Slow: []explore.Case{
			explore.NewCase("a waiter, and votes that split",
				&Waiters{Slots: 2, Waiting: 1, Split: true, Window: 2, TTL: 2, Bound: 1}),
			explore.NewCase("two waiters", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, twoAsleep...),
			explore.NewCase("a waiter that gives up",
				&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, GiveUps: 1, Bound: 2}, twoAsleep...),
			explore.NewCase("a waiter, and one that comes",
				&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, asleep(3, 0, 1)...),
		},
		Broken: brokenWaiters(),
	}
}

func brokenWaiters() []explore.Case {
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
	return []explore.Case{
		// 54: a waiter queues for a slot, and another becomes free.
		explore.NewCase("QueuePerSlot",
			&Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{QueuePerSlot: true}}),
		// 55: two slots become free, and one waiter is named.
		explore.NewCase("ReservationWithoutSlot", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{ReservationWithoutSlot: true}}, two...),
		// 56: a slot that has refused becomes free before its waiter is in the queue.
		explore.NewCase("QueuedLate",
			&Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{QueuedLate: true}}),
		// 57: a waiter that was named for nothing is in no queue.
		explore.NewCase("NotRejoined",
			&Waiters{Slots: 2, Waiting: 1, Window: 2, TTL: 2, Bound: 1, Rules: R{NotRejoined: true}}),
		explore.NewCase("NoRetry", &Waiters{Slots: 1, Waiting: 2, Split: true, Window: 2, TTL: 2, Bound: 2,
			Rules: R{NoRetry: true}}),
		// 58: a slot is kept for somebody who has another, or has gone.
		explore.NewCase("NotPassedOn", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, GiveUps: 1, Bound: 2,
			Rules: R{NotPassedOn: true}}, two...),
		explore.NewCase("NoLeaveAfterGrant", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{NoLeaveAfterGrant: true}}, append(slices.Clip(one), "client 1 releases slot 0",
			"node A carries out the release of slot 0 by client 1", "client 2 releases slot 1",
			"node A carries out the release of slot 1 by client 2",
			"node B carries out the release of slot 1 by client 2")...),
		explore.NewCase("LeaveOvertakes", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2,
			Rules: R{LeaveOvertakes: true}}, slices.Concat(one, released(1))...),
		explore.NewCase("NoPoll", &Waiters{Slots: 2, Waiting: 1, Poll: 2, Window: 2, TTL: 2, Unheard: 1, Bound: 3,
			Rules: R{NoPoll: true}}),
		// 54: without the capability, a look at all slots is what is instead.
		explore.NewCase("LooksAtPreferred", &Waiters{Slots: 2, Waiting: 1, PerSlot: true, Poll: 2, Window: 2, TTL: 2,
			Bound: 3, Rules: R{LooksAtPreferred: true}}),
	}
}

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

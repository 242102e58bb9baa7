package spec

import (
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

func brokenConstructs() []explore.Case {
	return slices.Concat(brokenPermits(), brokenWaiters(), brokenElections(), brokenSets(), brokenShared(),
		brokenRevokes())
}

func brokenPermits() []explore.Case {
	type R = PermitsRules
	return []explore.Case{
		// 49: three permits, two on each node.
		explore.NewCase("CountPerNode", &Permits{Callers: "222", Old: 2, TTL: 2, Rules: R{CountPerNode: true}}, onePermit...),
		// 50: who believes in more slots takes one more.
		explore.NewCase("KUnchecked", &Permits{Callers: "112", Old: 1, TTL: 2, Rules: R{KUnchecked: true}}),
		// 51: a slot that is no longer there is renewed for ever.
		explore.NewCase("ExtendsUnchecked", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Renewed: true,
			Rules: R{ExtendsUnchecked: true}}, anotherPermit...),
		// 76: as 50, once the nodes have forgotten k beside a permit that is renewed.
		explore.NewCase("ForgottenEarly", &Permits{Callers: "12", Old: 1, TTL: 2, Renewed: true, Idle: true,
			Rules: R{ForgottenEarly: true}}),
		// 52: a node forgets, and has the old k with the one that never heard of the new.
		explore.NewCase("MajorityIsEnough", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Wipes: 1,
			Rules: R{MajorityIsEnough: true}}),
		// 53: permits of the larger k are valid still.
		explore.NewCase("ShrunkWithoutWait", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2,
			Rules: R{ShrunkWithoutWait: true}}, onePermit...),
		// 39: as a lock.
		explore.NewCase("NoQuarantine", &Permits{Callers: "222", Old: 2, TTL: 2, Wipes: 1, Rules: R{NoQuarantine: true}}),
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
		// 57: a waiter that was named in vain is in no queue.
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

func brokenElections() []explore.Case {
	type R = ElectionRules
	return []explore.Case{
		// 60: renewal hangs, and nobody says that the term is over.
		explore.NewCase("EndsByAnswer", &Election{Candidates: 2, TTL: 2, Asks: 1, Rules: R{EndsByAnswer: true}}),
		// 61: a campaign that was cancelled has its votes after all.
		explore.NewCase("CancelIgnored",
			&Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1, Rules: R{CancelIgnored: true}}),
		explore.NewCase("NoTombstone", &Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1, Rules: R{NoTombstone: true}}),
		// 62: releases are lost, and the lease is renewed for nobody.
		explore.NewCase("ResignForgets", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 3, Lost: 2, Vacancy: 3,
			Rules: R{ResignForgets: true}}),
		// 63: a leader acts until the nodes have answered, and the next one acts too.
		explore.NewCase("ResignIsNotEnd", &Election{Candidates: 2, TTL: 2, Asks: 1, Rules: R{ResignIsNotEnd: true}}),
		// 64: the leader of before leads again, before those who waited.
		explore.NewCase("AgainAtFront", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Again: 1,
			Rules: R{AgainAtFront: true}}),
		// 65: as 35, for terms.
		explore.NewCase("TermOfTheNode",
			&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Rules: R{TermOfTheNode: true}}),
	}
}

func brokenSets() []explore.Case {
	type R = SetsRules
	return []explore.Case{
		// 66: each waits for the lock of the next.
		explore.NewCase("Unsorted", sets(Sets{Wanted: "01 12 20", Rules: R{Unsorted: true}})),
		// 67: a set goes on when somebody else has one of its locks.
		explore.NewCase("LossOfOne", sets(Sets{Wanted: "01 10", Losses: 1, Rules: R{LossOfOne: true}})),
		// 68: a set that failed bars others.
		explore.NewCase("KeptOnFailure", sets(Sets{Wanted: "01 10", Rules: R{KeptOnFailure: true}})),
	}
}

func brokenShared() []explore.Case {
	type R = SharedRules
	off := func(name string, m Shared, rules R) explore.Case { m.Rules = rules; return explore.NewCase(name, &m) }
	rw, lasting := Shared{Modes: "RW", TTLs: "22"}, Shared{Modes: "RW", TTLs: "33", Renewals: 2, Wipes: 1}
	waits := Shared{Modes: "RWR", TTLs: "222", Queues: true}
	return []explore.Case{
		// 69: the quorums of a reader and a writer do not meet.
		off("ReaderQuorumOne", rw, R{ReaderQuorumOne: true}),
		off("ReadersNotCounted", rw, R{ReadersNotCounted: true}),
		// 70: a short reader ends a long one.
		off("OneExpiry", Shared{Modes: "RRW", TTLs: "311"}, R{OneExpiry: true}),
		// 71: as 35, for readers and writers.
		off("NotRaised", Shared{Modes: "WWR", TTLs: "222"}, R{NotRaised: true}),
		// 72: a node that lost its counter begins with none.
		off("NoFloor", Shared{Modes: "WW", TTLs: "22", Wipes: 1}, R{NoFloor: true}),
		off("ReaderNotFloored", Shared{Modes: "WR", TTLs: "22", Wipes: 1}, R{ReaderNotFloored: true}),
		// 73: as 38, 30 and 32.
		off("NoQuarantine", Shared{Modes: "RW", TTLs: "22", Wipes: 1}, R{NoQuarantine: true}),
		off("RefillVotes", lasting, R{RefillVotes: true, RefillInSilence: true}),
		off("RefillInSilence", lasting, R{RefillInSilence: true}),
		// 74: a reader comes back beside a writer.
		off("RefillOverWriter", Shared{Modes: "RW", TTLs: "22", Renewals: 2}, R{RefillOverWriter: true}),
		// 75: readers that come later are let in by the two nodes on which nobody waits.
		off("QueueAtGate", Shared{Modes: "WWR", TTLs: "222", Queues: true}, R{QueueAtGate: true}),
		off("WriterBarsNobody", waits, R{WriterBarsNobody: true}),
	}
}

package spec

import (
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
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

func heldConstructs() (quick, slow []explore.Case) {
	quick = []explore.Case{
		explore.NewCase("permits of one k", &Permits{Callers: "222", Old: 2, TTL: 2, Renewed: true}),
		explore.NewCase("a caller with another k", &Permits{Callers: "112", Old: 1, TTL: 2, Renewed: true}),
		explore.NewCase("k grows", &Permits{Callers: "122", Old: 1, New: 2, TTL: 2}),
		explore.NewCase("k grows, and permits are renewed",
			&Permits{Callers: "12", Old: 1, New: 2, TTL: 2, Renewed: true}),
		explore.NewCase("k that nobody uses", &Permits{Callers: "12", Old: 2, TTL: 2, Renewed: true, Idle: true}),
		explore.NewCase("k shrinks", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Renewed: true}),
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
	}
	slow = []explore.Case{
		explore.NewCase("k shrinks under three", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Renewed: true}),
		explore.NewCase("k shrinks, and a node forgets it", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Wipes: 1}),
		explore.NewCase("k and a node that forgets", &Permits{Callers: "222", Old: 2, TTL: 2, Wipes: 1}),
		explore.NewCase("k that nobody uses, three clients",
			&Permits{Callers: "122", Old: 1, TTL: 2, Renewed: true, Idle: true}),
		explore.NewCase("four clients", &Permits{Callers: "2222", Old: 2, TTL: 2}),
		explore.NewCase("a waiter, and votes that split",
			&Waiters{Slots: 2, Waiting: 1, Split: true, Window: 2, TTL: 2, Bound: 1}),
		explore.NewCase("two waiters", &Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, twoAsleep...),
		explore.NewCase("a waiter that gives up",
			&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, GiveUps: 1, Bound: 2}, twoAsleep...),
		explore.NewCase("a waiter, and one that comes",
			&Waiters{Slots: 2, Waiting: 2, Window: 2, TTL: 2, Bound: 2}, asleep(3, 0, 1)...),
	}
	quick = append(quick, heldElections()...)
	quick, slow = append(quick, heldShared()...), append(slow, slowConstructs()...)
	moreQuick, moreSlow := heldRevokes()
	return append(quick, moreQuick...), append(slow, moreSlow...)
}

func heldElections() []explore.Case {
	return []explore.Case{
		explore.NewCase("crashes, resignations that are lost", &Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 3,
			Renewals: 1, Lost: 2, Crashes: 1, Vacancy: 3}),
		explore.NewCase("candidates that ask at once",
			&Election{Candidates: 2, TTL: 2, Asks: 3, Lost: 2, Crashes: 1, Vacancy: 3}),
		explore.NewCase("a second campaign",
			&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 2, Again: 1, Renewals: 1, Vacancy: 3}),
		explore.NewCase("sorted sets, and lost locks", sets(Sets{Wanted: "012 120 20", Losses: 2})),
	}
}

func heldShared() []explore.Case {
	return []explore.Case{
		explore.NewCase("a reader and a writer, renewal and a node that forgets",
			&Shared{Modes: "RW", TTLs: "33", Renewals: 2, Wipes: 1}),
		explore.NewCase("readers of different length, and a writer", &Shared{Modes: "RRW", TTLs: "312", Renewals: 1}),
		explore.NewCase("a reader between writers, and a node that forgets", &Shared{Modes: "WRW", TTLs: "222", Wipes: 1}),
	}
}

func slowConstructs() []explore.Case {
	return []explore.Case{
		explore.NewCase("late calls, renewal and a campaign that is cancelled",
			&Election{Candidates: 2, TTL: 2, InTurn: true, Asks: 1, Renewals: 1, Cancels: 1}),
		explore.NewCase("two campaigns at once, and one that is cancelled",
			&Election{Candidates: 2, TTL: 2, Asks: 1, Cancels: 1}),
		explore.NewCase("two writers, renewal and a node that forgets",
			&Shared{Modes: "WW", TTLs: "33", Renewals: 1, Again: 1, Wipes: 1}),
		explore.NewCase("a reader between writers, which ask again", &Shared{Modes: "WRW", TTLs: "222", Again: 1}),
		explore.NewCase("a writer that waits between readers", &Shared{Modes: "RWR", TTLs: "222", Again: 1, Queues: true}),
	}
}

package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// SharedCases are the explorations of [Shared].
func SharedCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("a reader and a writer, renewal and a node that forgets",
				&Shared{Modes: "RW", TTLs: "33", Renewals: 2, Wipes: 1}),
			explore.NewCase("readers of different length, and a writer", &Shared{Modes: "RRW", TTLs: "312", Renewals: 1}),
			explore.NewCase("a reader between writers, and a node that forgets", &Shared{Modes: "WRW", TTLs: "222", Wipes: 1}),
		},
		Slow: []explore.Case{
			explore.NewCase("two writers, renewal and a node that forgets",
				&Shared{Modes: "WW", TTLs: "33", Renewals: 1, Again: 1, Wipes: 1}),
			explore.NewCase("a reader between writers, which ask again", &Shared{Modes: "WRW", TTLs: "222", Again: 1}),
			explore.NewCase("a writer that waits between readers", &Shared{Modes: "RWR", TTLs: "222", Again: 1, Queues: true}),
		},
		Broken: brokenShared(),
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

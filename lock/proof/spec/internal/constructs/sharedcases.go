package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// SharedCases are the explorations of [Shared].
func SharedCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("a reader and a writer, renewal and a node that forgets",
				&Shared{Modes: "RW", TTLs: "33", Renewals: 2, Wipes: 1}),
			explore.NewCase("a revoke of a reader, two renewals and a writer",
				&Shared{Modes: "RW", TTLs: "32", Renewals: 2, Act: true}),
			explore.NewCase("a revoke of two readers and a renewal", &Shared{Modes: "RR", TTLs: "32", Renewals: 1, Act: true}),
			explore.NewCase("a revoke of a reader, renewals and a node that forgets",
				&Shared{Modes: "RW", TTLs: "23", Renewals: 3, Wipes: 1, Act: true}),
			explore.NewCase("readers of different length, and a writer", &Shared{Modes: "RRW", TTLs: "312", Renewals: 1}),
			explore.NewCase("a reader between writers, and a node that forgets", &Shared{Modes: "WRW", TTLs: "222", Wipes: 1}),
		},
		Slow: []explore.Case{
			explore.NewCase("two writers, renewal and a node that forgets",
				&Shared{Modes: "WW", TTLs: "33", Renewals: 1, Again: 1, Wipes: 1}),
			explore.NewCase("a reader between writers, which ask again", &Shared{Modes: "WRW", TTLs: "222", Again: 1}),
			explore.NewCase("a revoke of two readers, a renewal and a writer",
				&Shared{Modes: "RRW", TTLs: "322", Renewals: 1, Act: true}),
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
	revoked := Shared{Modes: "R", TTLs: "3", Renewals: 2, Act: true}
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
		// 88: a mark that a renewal does not look for ends nothing.
		off("ReaderRenewed", revoked, R{ReaderRenewed: true}),
		off("ReaderRefilled", revoked, R{ReaderRefilled: true}),
		off("ReaderGrantedLate", revoked, R{ReaderGrantedLate: true}),
		off("MinorityMarked", revoked, R{MinorityMarked: true}),
		// 89: two readers that last longest on different nodes keep a writer out for longer than each of them.
		off("PromiseByReader", Shared{Modes: "RR", TTLs: "33", Act: true}, R{PromiseByReader: true}),
		off("PromiseByRead", revoked, R{PromiseByRead: true}),
	}
}

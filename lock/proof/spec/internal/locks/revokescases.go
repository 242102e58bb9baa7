package locks

import (
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// A lease that somebody is about to revoke.
var toRevoke = []string{"client 1 asks all nodes", "node A grants client 1", "node B grants client 1",
	"client 1 has a quorum: its lease is valid", "act 1 reads that client 1 holds the lock"}

// RevokesCases are the explorations of [Revokes].
func RevokesCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("a revoke and a renewal", &Revokes{Clients: 2, TTL: 2, Rounds: 1, Acts: 1}),
			explore.NewCase("a revoke and two renewals", &Revokes{Clients: 1, TTL: 3, Rounds: 2, Acts: 1, Lost: 1}),
			explore.NewCase("a revoke whose target has handed over",
				&Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1, HandOver: true, Lost: 1}),
			explore.NewCase("two revokes of one lease", &Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 2}, toRevoke...),
			explore.NewCase("a revoke, a crash and the next holder",
				&Revokes{Clients: 2, TTL: 2, Rounds: 1, Acts: 1, Crashes: 1},
				toRevoke...),
			explore.NewCase("a revoke, and a node that forgets",
				&Revokes{Clients: 1, TTL: 3, Rounds: 2, Acts: 1, Wipes: 1}, toRevoke...),
		},
		Slow: []explore.Case{
			explore.NewCase("two revokes of one lease, and a lost answer",
				&Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 2, Lost: 1}),
			explore.NewCase("a revoke and a clock that is behind",
				&Revokes{Clients: 2, TTL: 3, LagEvery: 3, Rounds: 1, Acts: 1}, toRevoke...),
			explore.NewCase("revokes of two holders, one late", &Revokes{Clients: 2, TTL: 2, Rounds: 1, Acts: 2}, toRevoke...),
			explore.NewCase("a revoke and a lost answer, and the next holder",
				&Revokes{Clients: 2, TTL: 3, Rounds: 1, Acts: 1, Lost: 1}, toRevoke...),
			explore.NewCase("a revoke, the next holder, and a node that forgets",
				&Revokes{Clients: 2, TTL: 2, Rounds: 1, Acts: 1, Wipes: 1}, toRevoke...),
		},
		Broken: brokenRevokes(),
	}
}

func brokenRevokes() []explore.Case {
	type R = RevokesRules
	off := func(name string, m Revokes, rules R, after ...string) explore.Case {
		m.Rules = rules
		return explore.NewCase(name, &m, after...)
	}
	return []explore.Case{
		// 78: the key is deleted while its lease is valid.
		off("DeletesKey", Revokes{Clients: 2, TTL: 3, Acts: 1}, R{DeletesKey: true}, toRevoke...),
		// 79: a node that lost the key, or puts it back, lets the lease go on.
		off("MarkWithKey", Revokes{Clients: 1, TTL: 4, Rounds: 2, Acts: 1}, R{MarkWithKey: true}, toRevoke...),
		off("RefillIgnoresMark", Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1}, R{RefillIgnoresMark: true}, toRevoke...),
		// 80: an acquire that comes after the mark puts the key on one more node.
		off("LateGrant", Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1, Lost: 1}, R{LateGrant: true}),
		// 81: a node that has forgotten the key says that it is free.
		off("ForgottenCounts", Revokes{Clients: 1, TTL: 3, Acts: 1, Wipes: 1}, R{ForgottenCounts: true}, toRevoke...),
		// 82: the other nodes renew.
		off("MarkOnMinority", Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1}, R{MarkOnMinority: true}, toRevoke...),
		// 83: a late act against the holder before takes the mark away.
		off("OneMark", Revokes{Clients: 2, TTL: 3, Rounds: 1, Acts: 2}, R{OneMark: true},
			append(slices.Clip(toRevoke), "client 1 releases", "client 2 asks all nodes", "node A grants client 2",
				"node B grants client 2", "client 2 has a quorum: its lease is valid")...),
		// 84: the lease is renewed once its marks have expired.
		off("ShortMark", Revokes{Clients: 1, TTL: 3, Rounds: 2, Acts: 1}, R{ShortMark: true}, toRevoke...),
		// 85: the lock was handed over after it was read.
		off("MarkOfLease", Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1, HandOver: true}, R{MarkOfLease: true},
			toRevoke...),
		// 86: a renewal that was under way came after the read and before the marks.
		off("PromiseByRead", Revokes{Clients: 1, TTL: 3, Rounds: 1, Acts: 1}, R{PromiseByRead: true}, toRevoke[:4]...),
	}
}

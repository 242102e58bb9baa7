package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// Steps with which explorations of permits begin.
var (
	onePermit = []string{"client 1 asks for slot 0", "node A grants slot 0 to client 1",
		"node B grants slot 0 to client 1", "client 1 has a permit of slot 0"}
	anotherPermit = []string{"client 1 asks for slot 1", "node A grants slot 1 to client 1",
		"node B grants slot 1 to client 1", "client 1 has a permit of slot 1"}
)

// PermitsCases are the explorations of [Permits].
func PermitsCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("permits of one k", &Permits{Callers: "222", Old: 2, TTL: 2, Renewed: true}),
			explore.NewCase("a caller with another k", &Permits{Callers: "112", Old: 1, TTL: 2, Renewed: true}),
			explore.NewCase("k grows", &Permits{Callers: "122", Old: 1, New: 2, TTL: 2}),
			explore.NewCase("k grows, and permits are renewed",
				&Permits{Callers: "12", Old: 1, New: 2, TTL: 2, Renewed: true}),
			explore.NewCase("k that nobody uses", &Permits{Callers: "12", Old: 2, TTL: 2, Renewed: true, Idle: true}),
			explore.NewCase("k shrinks", &Permits{Callers: "22", Old: 2, New: 1, TTL: 2, Renewed: true}),
		},
		Slow: []explore.Case{
			explore.NewCase("k shrinks under three", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Renewed: true}),
			explore.NewCase("k shrinks, and a node forgets it", &Permits{Callers: "221", Old: 2, New: 1, TTL: 2, Wipes: 1}),
			explore.NewCase("k and a node that forgets", &Permits{Callers: "222", Old: 2, TTL: 2, Wipes: 1}),
			explore.NewCase("k that nobody uses, three clients",
				&Permits{Callers: "122", Old: 1, TTL: 2, Renewed: true, Idle: true}),
			explore.NewCase("four clients", &Permits{Callers: "2222", Old: 2, TTL: 2}),
		},
		Broken: brokenPermits(),
	}
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

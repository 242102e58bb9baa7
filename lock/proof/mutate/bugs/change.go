package bugs

// changeMutants are bugs in the act that changes the members of a set.
func changeMutants() []Mutant {
	const change, standing = "lock/redlock/guard/change.go", "lock/redlock/guard/standing.go"
	return []Mutant{
		{
			Bug:  "a change without a node that joins",
			Why:  "it may have a marker of a time when it was a member before",
			File: standing, Old: "if errs := c.whyAway(joining); errs != nil {",
			New:    "if errs := c.whyAway(joining); errs != nil && len(c.To) == 0 {",
			Killer: by(guarding, "TestAChangeLeavesNoOldQuorum"),
		},
		{
			Bug:  "a change is made from whatever stands there",
			Why:  "an old name of it leaves two configurations voting",
			File: change, Old: "err = c.standing(nodes)", New: "err = nil",
			Killer: by(guarding, "TestAStaleChange"),
		},
		{
			Bug:  "what another change has marked stands",
			Why:  "it may be taken back, and then two configurations stand",
			File: standing, Old: "marked && is == c.Old && read.From == c.New:", New: "marked && is == c.Old:",
			Killer: by(guarding, "TestAChangeThatWasCutOff"),
		},
		{
			Bug: "a mark that was replaced counts", Why: "an act that undoes the change has the votes back",
			File: change, Old: "case err == nil && mine && marker != m.marker:",
			New:    "case err == nil && mine && false:",
			Killer: by(guarding, "TestMarksThatAreReplacedDoNotCount"),
		},
		{
			Bug: "a node joins others that have gone on", Why: "it helps a configuration of before to a quorum",
			File: change, Old: "if c.confirm(ctx, nodes); !c.hasMoved() {", New: "if c.confirm(ctx, nodes); false {",
			Killer: by(guarding, "TestWhoIsToBeJoinedHasGoneOn"),
		},
		{
			Bug: "a change that failed leaves its marks", Why: "nodes keep silent for nothing",
			File: change, Old: "_, err := m.Conn.Replace(ctx, m.prefix(), m.before)",
			New:    "_, err := m.Conn.Replace(ctx, m.prefix(), m.marker)",
			Killer: by(guarding, "TestAChangeLeavesNoOldQuorum"),
		},
		{
			Bug:  "a node without a marker stands for the old configuration",
			Why:  "it was wiped, and has forgotten that the set has changed",
			File: standing, Old: "if n >= len(c.From)/2+1 || n == 0", New: "if n >= 1 || n == 0",
			Killer: by(guarding, "TestAQuorumHasToKnow"),
		},
		{
			Bug: "a change overtakes one that is under way", Why: "of two at once none may win",
			File: "lock/internal/memstate/marker.go", Old: "age >= 0 && age < changeLasts", New: "age >= 0 && age < 0",
			Killer: by(guarding, "TestAChangeUnderWay"),
		},
		{
			Bug: "the script lets a change overtake one that is under way", Why: "as above",
			File: "lock/redlock/internal/scripts/mark.lua", Old: "age >= 0 and age < 10000000", New: "false",
			Killer: by(scripting, "TestScriptsLeaveAChangeAloneThatIsUnderWay"),
		},
	}
}

// evictionMutants are bugs in how a node is noticed that evicts keys while it runs.
func evictionMutants() []Mutant {
	const probe, admit = "lock/redlock/guard/probe.go", "lock/redlock/guard/admit.go"
	return []Mutant{
		{
			Bug:  "a server is looked at when it is met, and never again",
			Why:  "an operator may have it evict while it runs",
			File: probe, Old: "return now-last >= int64(reexamineAfter) &&", New: "return false &&",
			Killer: by(guarding, "TestAServerIsProbedEverySecond"),
		},
		{
			Bug: "no vote takes a look along", Why: "as above",
			File: "lock/redlock/internal/lanes/carrier.go", Old: "r.probes = refusal == nil && r.guard.ProbeDue()",
			New:    "r.probes = false",
			Killer: by(redlock, "TestRealPolicyChangedWhileConnected"),
		},
		{
			Bug: "a vote counts that was sent before keys were evicted", Why: "the lock may have been among them",
			File: admit, Old: "sent.incarnation != g.memory {", New: "sent.incarnation != g.memory && false {",
			Killer: by(guarding, "TestEvictedKeysMakeAnotherMemory"),
		},
		{
			Bug: "evicted keys are not counted", Why: "a policy that was mended leaves no trace",
			File: "lock/redlock/redisinfo/info.go", Old: "if n := i.EvictedKeys(); n > 0 &&",
			New:    "if n := i.EvictedKeys(); n < 0 &&",
			Killer: by(guarding, "TestEvictedKeysMakeAnotherMemory"),
		},
		{
			Bug:  "what is evicted during a quarantine is not looked at",
			Why:  "a lease that is renewed meanwhile may lose its key",
			File: admit, Old: "		g.probe(ctx, s)\n", New: "",
			Killer: by(redlock, "TestRealEvictedWhileQuarantined"),
		},
		{
			Bug:  "one master of a cluster speaks for all",
			Why:  "which one a connection shows decides whether the cluster votes",
			File: "lock/redlock/guard/guard.go", Old: "!g.Cluster || problem != nil {", New: "true {",
			Killer: by(guarding, "TestAFitMasterSaysNothingOfTheOthers"),
		},
		{
			Bug: "a server that does not tell its policy may vote", Why: "it may evict",
			File: "lock/redlock/guard/info.go", Old: "case redisinfo.EvictionOff:",
			New:    "case redisinfo.EvictionOff, redisinfo.EvictionUnknown:",
			Killer: by(guarding, "TestProblemsAreNamed"),
		},
	}
}

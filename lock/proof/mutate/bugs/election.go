package bugs

const electing = "./lock/election"

// electionMutants are bugs in terms, campaigns and observers.
func electionMutants() []Mutant {
	const campaign, observe = "lock/election/campaign.go", "lock/election/observe.go"
	return []Mutant{
		{
			Bug: "a term's context does not end with its lease", Why: "while the nodes hang, two lead",
			File: campaign, Old: "context.WithCancelCause(lease)\n",
			New:    "context.WithCancelCause(context.WithoutCancel(lease))\n",
			Killer: by(electing, "TestRenewalHangs"),
		},
		{
			Bug: "a leader's lease is not renewed once the leader was asked to stop", Why: "two lead while it winds down",
			File: "lock/detached.go", Old: "context.WithCancelCause(context.WithoutCancel(ctx))\n",
			New:    "context.WithCancelCause(ctx)\n",
			Killer: by(electing, "TestSlowLeaderKeepsItsTerm"),
		},
		{
			Bug: "Run resigns before its leader has returned", Why: "as above",
			File: "lock/election/run.go", Old: "return false, r.lead(term.ctx, term)",
			New: "context.AfterFunc(term.ctx, func() { _ = term.Resign(context.WithoutCancel(ctx)) })\n" +
				"\treturn false, r.lead(term.ctx, term)",
			Killer: by(electing, "TestSlowLeaderKeepsItsTerm"),
		},
		{
			Bug: "a cancelled campaign goes on", Why: "it becomes leader later",
			File: "lock/detached.go", Old: "func() { cancel(context.Cause(ctx)) })\n	lease",
			New:    "func() {})\n	lease",
			Killer: by(electing, "TestCancelledCampaign").hangs(),
		},
		{
			Bug: "Run does not campaign again after a term was lost", Why: "nobody leads",
			File: "lock/election/run.go", Old: "again, err = true, nil", New: "again, err = false, lost",
			Killer: by(electing, "TestLostTerm"),
		},
		{
			Bug: "an observer yields earlier terms", Why: "a follower obeys a leader of the past",
			File: observe, Old: "if seen.Term < o.last.Term {", New: "if false {",
			Killer: by(electing, "TestObserveYieldsNoEarlierTerm"),
		},
		{
			Bug: "an observer forgets the terms that it saw at a vacancy", Why: "as above",
			File: observe, Old: "if seen.Vacant || seen.Term == 0", New: "if seen.Term == 0 && !seen.Vacant",
			Killer: by(electing, "TestObserveYieldsNoEarlierTerm"),
		},
		{
			Bug: "an observer reports a vacancy where it cannot tell", Why: "a page for an election that has a leader",
			File: observe, Old: "		return o.last, err\n", New: "		return Observation{Vacant: true}, nil\n",
			Killer: by(electing, "TestObserveWithFaults"),
		},
		{
			Bug: "an observer never sees a vacancy", Why: "nobody is paged when nobody leads",
			File: observe, Old: "Vacant: !s.Held", New: "Vacant: s.Held && !s.Held",
			Killer: by(electing, "TestObserveSeesEachVacancy"),
		},
		{
			Bug: "observers ask at a fixed interval", Why: "those of a fleet that was started at once ask at once",
			File: observe,
			Old:  "o.interval*3/4 + rand.N(max(o.interval/2, 1))", New: "max(o.interval, rand.N(o.interval))",
			Killer: by(electing, "TestObservePolls"),
		},
	}
}

// peekMutants are bugs in reading who holds a resource.
func peekMutants() []Mutant {
	const answers, script = "lock/engine/internal/peek/answers.go", "lock/redlock/internal/scripts/peek.lua"
	return []Mutant{
		{
			Bug: "a peek takes the largest counter for the fence", Why: "an observer refuses the next term, which is lower",
			File: answers,
			Old:  "s.Fence = same[sure-1].", New: "s.Fence = same[len(same)-1].",
			Killer: by(peeks, "TestPeekAnswers"),
		},
		{
			Bug: "nodes that do not answer count as free", Why: "a vacancy that is none",
			File: answers,
			Old:  "return most+unknown < p.quorum", New: "return most < p.quorum && unknown < len(p.nodes)",
			Killer: by(peeks, "TestPeekAnswers"),
		},
		{
			Bug: "a peek writes", Why: "it is not read-only",
			File: script, Old: "redis.call('DEL', KEYS[2])", New: "redis.call('SET', KEYS[2], '1')",
			Killer: by(scripting, "TestScriptsPeekWithoutATrace"),
		},
		{
			Bug: "a replica answers a peek", Why: "its data may be old",
			File: script, Old: "  redis.call('DEL', KEYS[2])\n", New: "",
			Killer: by(scripting, "TestScriptsOnAReplicaSayNothing"),
		},
		{
			Bug: "a server answers a peek although it may have forgotten", Why: "a vacancy that is none",
			File: script, Old: "if seen[2] ~= ARGV[1] then", New: "if false then",
			Killer: by(scripting, "TestScriptsPeekOnlyWhereTheyVote"),
		},
		{
			Bug: "a peek begins a quarantine", Why: "it is not read-only",
			File: "lock/redlock/internal/lanes/command.go", Old: "return c.Compares == ComparesMarker }",
			New:    "return c.Compares == ComparesMarker || c.isPeek() }",
			Killer: by(redlock, "TestRealPeekLeavesNoMarker"),
		},
	}
}

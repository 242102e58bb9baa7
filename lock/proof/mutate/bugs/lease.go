package bugs

// renewalMutants are bugs in how a lease is prolonged, or is not.
func renewalMutants() []Mutant {
	return []Mutant{
		{
			Bug:  "a refill votes",
			Why:  "nodes that had lost the lease, and may have let another in, are a quorum for it",
			File: "lock/engine/internal/lease/renewround.go", Old: "r.refilled++\n		r.tally.Refused++",
			New:    "r.refilled++\n		r.tally.Granted++",
			Killer: by(engine, "TestRefillIsNoVote"),
		},
		{
			Bug:    "an extend brings back a lease that ran out",
			Why:    "a host that was suspended goes on with a lock that is another's",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "if l.ended != nil || l.expires <= now || expires <= now {",
			New:    "if l.ended != nil || expires <= now {",
			Killer: by(engine, "TestExtendDoesNotReviveALeaseThatRanOut"),
		},
		{
			Bug:    "an extend renews a lease that was released meanwhile",
			Why:    "its caller believes in a lock that is being released",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "if l.ended != nil || l.expires <= now || expires <= now {",
			New:    "if l.expires <= now || expires <= now {",
			Killer: by(engine, "TestExtendOfALeaseThatIsReleasedMeanwhile"),
		},
		{
			Bug: "an extend that took longer than the TTL renews", Why: "the nodes have let go of the lock again",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "if l.ended != nil || l.expires <= now || expires <= now {",
			New:    "if l.ended != nil || l.expires <= now {",
			Killer: by(engine, "TestExtendDoesNotReviveALeaseThatRanOut"),
			Equivalent: "The end of validity that a round gives is no earlier than the one before: all rounds of a " +
				"grant have its TTL, and the rounds " +
				"begin one after the other. Where the new end is past, so is the old one, which is asked first.",
		},
		{
			Bug:  "a lease that a quorum no longer holds goes on to the end of its validity",
			Why:  "its holder works beside the next one, and could have known",
			File: "lock/engine/internal/lease/renew.go", Old: "case r.tally.Held():\n		r.outcome = locktrace.RenewLost",
			New:    "case r.tally.Held():\n		r.outcome = locktrace.RenewUnknown",
			Killer: by(memory, "TestALeaseIsLostOnOrder"),
		},
		{
			Bug:    "a round that cannot tell ends the lease",
			Why:    "a majority that pauses for a moment takes every lock away",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "	default:\n		r.outcome = locktrace.RenewUnknown\n		r.err = r.noQuorum",
			New:    "	default:\n		r.outcome = locktrace.RenewLost\n		r.err = r.noQuorum",
			Killer: by(redlock, "TestRealReadOnlySingle"),
		},
		{
			Bug: "an extend does not look at the tombstone", Why: "a late one brings a lock back that was released",
			File: "lock/redlock/internal/scripts/extend.lua",
			Old:  "or not votes or redis.call('EXISTS', KEYS[3]) == 1 then", New: "or not votes then",
			Killer: by(scripting, "TestScriptsHeedTombstones"),
		},
		{
			Bug:  "a node that may not vote takes a lock back",
			Why:  "the next renewal counts it, beside a grant that the node has forgotten",
			File: "lock/redlock/internal/scripts/extend.lua", Old: "or not votes or", New: "or",
			Killer: by(scripting, "TestScriptsVoteForTheirMarker"),
		},
		{
			Bug:  "an extend creates the key where nobody asked for that",
			Why:  "on a single node it resurrects a lease that was lost",
			File: "lock/redlock/internal/scripts/extend.lua", Old: "if ARGV[3] ~= '1' or", New: "if",
			Killer: by(scripting, "TestScriptsRefill"),
		},
		{
			Bug: "an extend prolongs whatever lock is there", Why: "two holders renew one key",
			File: "lock/redlock/internal/scripts/extend.lua",
			Old:  "if string.sub(value, 1, #token + 1) == token .. ':' then", New: "if true then",
			Killer: by(scripting, "TestScriptsCompareTokens"),
		},
		{
			Bug:    "an extend that finds another's lock writes nothing",
			Why:    "a replica says 'not yours' from old data, and a quorum of them ends the lease",
			File:   "lock/redlock/internal/scripts/extend.lua",
			Old:    "if redis.call('EXISTS', KEYS[3]) == 0 then\n  redis.call('DEL', KEYS[3])\nend\nreturn -1",
			New:    "return -1",
			Killer: by(scripting, "TestScriptsOnAReplicaSayNothing"),
		},
		{
			Bug:  "an extend that finds no lock writes nothing",
			Why:  "as above, where the replica has not heard of the lock",
			File: "lock/redlock/internal/scripts/extend.lua", Old: "    redis.call('DEL', KEYS[1])\n    return 0",
			New:    "    return 0",
			Killer: by(scripting, "TestScriptsOnAReplicaSayNothing"),
		},
		{
			Bug:  "what an extend writes removes its tombstone",
			Why:  "the late acquire that it was to stop locks the resource for nobody",
			File: "lock/redlock/internal/scripts/extend.lua",
			Old:  "if redis.call('EXISTS', KEYS[3]) == 0 then\n  redis", New: "if true then\n  redis",
			Killer: by(scripting, "TestScriptsHeedTombstones"),
		},
	}
}

// releaseMutants are bugs in how a lock is given back.
func releaseMutants() []Mutant {
	return []Mutant{
		{
			Bug: "a release leaves no tombstone", Why: "an acquire that comes late locks the resource for nobody",
			File: "lock/engine/internal/attempt/undoing.go", Old: "	if late {\n", New: "	if false && late {\n",
			Killer: by(redlock, "TestRealLateSetAfterRelease/release_gets_through"),
		},
		{
			Bug: "a call without an answer is taken for one that failed", Why: "no tombstone where one is needed",
			File: "lock/engine/internal/attempt/grant.go",
			Old:  "g.late = g.late || state == GrantUnknown", New: "g.late = false",
			Killer: by(redlock, "TestRealLateSetAfterRelease/release_gets_through"),
		},
		{
			Bug: "acquire does not look at the tombstone", Why: "as above",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "elseif seen[3] then", New: "elseif false then",
			Killer: by(scripting, "TestScriptsHeedTombstones"),
		},
		{
			Bug: "release deletes the key of any owner", Why: "a late release takes the lock away from its holder",
			File: "lock/redlock/internal/scripts/release.lua",
			Old:  "if string.sub(value, 1, #token + 1) == token .. ':' then", New: "if true then",
			Killer: by(scripting, "TestScriptsCompareTokens"),
		},
		{
			Bug:  "a release that finds nothing writes nothing",
			Why:  "a replica says 'not there', and the key stays on its master",
			File: "lock/redlock/internal/scripts/release.lua",
			Old:  "elseif result ~= 1 and redis.call('EXISTS', KEYS[2]) == 0 then", New: "elseif false then",
			Killer: by(scripting, "TestScriptsOnAReplicaSayNothing"),
		},
		{
			Bug:  "what a release writes removes its tombstone",
			Why:  "the late acquire that it was to stop locks the resource for nobody",
			File: "lock/redlock/internal/scripts/release.lua",
			Old:  "elseif result ~= 1 and redis.call('EXISTS', KEYS[2]) == 0 then", New: "elseif result ~= 1 then",
			Killer: by(scripting, "TestScriptsHeedTombstones"),
		},
		{
			Bug:  "a release that was not answered is not sent again",
			Why:  "a node that paused keeps the lock for the rest of its TTL",
			File: "lock/engine/internal/attempt/undoing.go",
			Old:  "u.Grant.Retries.Add(u.Grant.Set, u)", New: "_ = u.Grant",
			Killer: by(engine, "TestAReleaseIsSentUntilItIsAnswered"),
		},
		{
			Bug:    "one node's 'released' outweighs a quorum's 'not yours'",
			Why:    "Do says that all was well, and another was holder meanwhile",
			File:   "lock/engine/internal/lease/releaseround.go",
			Old:    "if r.answered() >= r.attempt.Set.Quorum && !r.notHeld() {",
			New:    "if r.answered() >= r.attempt.Set.Quorum && (r.released > 0 || !r.notHeld()) {",
			Killer: by(redlock, "TestRealReleaseByPlurality"),
		},
		{
			Bug:    "a release that took effect is reported as a release of nothing",
			Why:    "a caller that released in time reads that the lease was over",
			File:   "lock/engine/internal/lease/releaseround.go",
			Old:    "if r.undoings[a.From].Err != nil && a.Err == nil && !r.lost {",
			New:    "if false {",
			Killer: by(redlock, "TestRealReleaseWhoseReplyIsLost"),
		},
		{
			Bug:  "the caller's cancelled context goes to the nodes",
			Why:  "a deferred release of a request that was cancelled does not happen",
			File: "lock/engine/internal/nodes/node.go", Old: "return context.WithoutCancel(ctx)", New: "return ctx",
			Killer: by(redlock, "TestRealReleaseThroughAHookThatHeedsContexts"),
		},
		{
			Bug: "Close does not wait for what is under way", Why: "goroutines and commands outlive the engine",
			File: "lock/engine/internal/workers/workers.go", Old: "close(w.quit)\n	w.wg.Wait()",
			New:    "close(w.quit)",
			Killer: by(workers, "TestWorkersWaitForWhatIsUnderWay"),
		},
	}
}

// reentrantMutants are bugs in the handles of a lease that is entered again.
func reentrantMutants() []Mutant {
	const file, pkg = "lock/reentrant.go", "./lock"
	return []Mutant{
		{
			Bug: "a handle on a lease does not end with it", Why: "detached work goes on beside the next holder",
			File: file, Old: "func() { cancel(context.Cause(e.lease.Context())) })", New: "func() {})",
			Killer: by(pkg, "TestReentrantHandleEndsWithItsLease"),
		},
		{
			Bug: "a lease without validity is entered again", Why: "its timer is late, and another holder may be there",
			File: file, Old: " || e.lease.Remaining() <= 0 {", New: " {",
			Killer: by(pkg, "TestReentrantReturnsNoLeaseThatIsOver"),
		},
		{
			Bug: "a released handle reports what is left of the lease", Why: "its user relies on a lock given back",
			File: file, Old: "if h.over() != nil {\n", New: "if false {\n",
			Killer: by(pkg, "TestReentrantReleasedHandleIsOver"),
		},
		{
			Bug: "a released handle extends the lease", Why: "as above",
			File: file, Old: "if err := h.over(); err != nil {", New: "if err := h.over(); false && err != nil {",
			Killer: by(pkg, "TestReentrantReleasedHandleIsOver"),
		},
	}
}

package bugs

// guardMutants are bugs in who may vote.
func guardMutants() []Mutant {
	return []Mutant{
		{
			Bug: "a replica may vote", Why: "what it knows is old; promoted, it has forgotten",
			File: "lock/redlock/guard/info.go", Old: `case info.Role() == "slave":`, New: `case info.Role() == "none":`,
			Killer: by(guarding, "TestProblemsAreNamed"),
		},
		{
			Bug: "one server votes under two names", Why: "it is a quorum of its own",
			File:   "lock/redlock/guard/guard.go",
			Old:    "if other, taken := g.Servers.claim(g.identityOf(info), g.claimant); taken {",
			New:    "if other, taken := g.Servers.claim(g.identityOf(info), g.claimant); taken && other == \"\" {",
			Killer: by(guarding, "TestProblemsAreNamed"),
		},
		{
			Bug: "a server that evicts may vote", Why: "locks vanish under memory pressure",
			File: "lock/redlock/guard/guard.go", Old: "if err := mustKeepKeys(info, g.NoEviction); err != nil && !g.EvictionOK {",
			New:    "if err := mustKeepKeys(info, g.NoEviction); err != nil && g.EvictionOK {",
			Killer: by(guarding, "TestProblemsAreNamed"),
		},
		{
			Bug:  "a vote counts although the connection that carried it found the server unfit",
			Why:  "the first vote of each connection is not guarded",
			File: "lock/redlock/internal/scripts/args.go", Old: "if err = g.Verdict(sent); reply.Restart == nil {",
			New:    "if reply.Restart == nil {",
			Killer: by(scripting, "TestAVoteOfAServerThatBecameUnfitDoesNotCount"),
		},
		{
			Bug:  "a server is not asked for its proof: every node votes",
			Why:  "a node that was emptied helps a second holder to a quorum",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if refuses(seen[5], expected) then", New: "if false then",
			Killer: by(redlock, "TestRealFlushed"),
		},
		{
			Bug:  "the marker's run_id is ignored",
			Why:  "a stale snapshot, or a copy of another server, proves that it remembers",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if refuses(seen[5], expected) then",
			New: "if not seen[5] or string.gsub(seen[5], '^(%a+|[^|]*)|[^|]*', '%1') ~= string.gsub(expected, " +
				"'^(%a+|[^|]*)|[^|]*', '%1') then",
			Killer: by(redlock, "TestRealStaleSnapshot"),
		},
		{
			Bug:  "the run_id of the latest connection is used on all",
			Why:  "a connection that was there before votes by the proof of another process",
			File: "lock/redlock/internal/lanes/carrier.go", Old: "		r.lane.conn.saw(r.sight())\n",
			New:    "		r.lane.conn.saw(r.guard.Latest())\n",
			Killer: by(standalone, "TestAConnectionVotesByItsOwnSight"),
		},
		{
			Bug:  "acquire ignores the fingerprint",
			Why:  "two sets of nodes vote at a time: a quorum of three and one of five",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if refuses(seen[5], expected) then",
			New: "if not seen[5] or string.gsub(seen[5], '^(%a+)|[^|]*', '%1') ~= string.gsub(expected, " +
				"'^(%a+)|[^|]*', '%1') then",
			Killer: by(scripting, "TestScriptsVoteForTheirMarker"),
		},
		{
			Bug:  "acquire ignores the database",
			Why:  "a marker that was copied to another database proves nothing there",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if refuses(seen[5], expected) then",
			New:    "if not seen[5] or string.gsub(seen[5], '%d+$', '') ~= string.gsub(expected, '%d+$', '') then",
			Killer: by(scripting, "TestScriptsVoteForTheirMarker"),
		},
		{
			Bug:  "extend ignores the fingerprint",
			Why:  "a lease of the old set is renewed for ever, while the new one lets another in",
			File: "lock/redlock/internal/scripts/extend.lua", Old: "if fingerprint and fingerprint ~= ARGV[8] then",
			New:    "if fingerprint and fingerprint ~= ARGV[8] and not value then",
			Killer: by(scripting, "TestScriptsVoteForTheirMarker"),
		},
		{
			Bug: "refill ignores the fingerprint", Why: "a lease of the old set comes back on nodes of the new one",
			File: "lock/redlock/internal/scripts/extend.lua", Old: "if fingerprint and fingerprint ~= ARGV[8] then",
			New:    "if fingerprint and fingerprint ~= ARGV[8] and value then",
			Killer: by(scripting, "TestScriptsVoteForTheirMarker"),
		},
		{
			Bug: "extends are sent without a fingerprint", Why: "as above",
			File: "lock/redlock/guard/sight.go", Old: "	}\n	return string(s.fingerprint)\n",
			New:    "	}\n	return \"\"\n",
			Killer: by(guarding, "TestASightIsOfItsConnection"),
		},
		{
			Bug:  "a node of three votes for a caller that names it alone",
			Why:  "one forgotten address in a crontab starts a second holder",
			File: "lock/redlock/internal/scripts/marker.lua",
			Old:  "return (state == 'voting' or state == 'quarantine') and counts_for(set)", New: "return false",
			Killer: by(scripting, "TestScriptsRefuseACallerOfFewerNodes"),
		},
		{
			Bug:  "a node of three that restarted votes for a caller that names it alone",
			Why:  "it has forgotten the lease that the two others remember",
			File: "lock/redlock/internal/scripts/marker.lua",
			Old:  "(state == 'voting' or state == 'quarantine') and", New: "state == 'voting' and",
			Killer: by(scripting, "TestScriptsRefuseACallerOfFewerNodes"),
		},
		{
			Bug:  "after a change to one node, that node votes at once",
			Why:  "a lease that the two others granted is still valid",
			File: "lock/redlock/internal/scripts/marker.lua",
			Old:  "if state == 'quarantine' and set == expected", New: "if state == 'none' and set == expected",
			Killer: by(scripting, "TestScriptsRefuseACallerOfFewerNodes"),
		},
		{
			Bug: "a caller of one or two nodes does not say which", Why: "as above",
			File: "lock/redlock/guard/sight.go", Old: "case s.unchecked:\n		return string(s.fingerprint)\n",
			New:    "case s.unchecked:\n		return \"\"\n",
			Killer: by(guarding, "TestASightIsOfItsConnection"),
		},
		{
			Bug:  "a caller that expects no marker begins a quarantine",
			Why:  "a node that was emptied a moment ago gets the marker of a set of one, and leaves its own set",
			File: "lock/redlock/guard/silence.go", Old: "	if !g.enforces() {\n", New: "	if false {\n",
			Killer: by(guarding, "TestACallerThatExpectsNoMarkerBeginsNoQuarantine"),
		},
		{
			Bug:  "a vouch does not name its act",
			Why:  "one that comes late ends the quarantine of a server that has forgotten since",
			File: "lock/redlock/guard/member.go", Old: "fields[:min(5, len(fields))]",
			New:    "fields[:min(4, len(fields))]",
			Killer: by(guarding, "TestAVouchEndsItsOwnQuarantineOnly"),
		},
		{
			Bug:  "a vouch with a node missing",
			Why:  "the node that is away has a lock, and the others have forgotten it",
			File: "lock/redlock/guard/vouch.go",
			Old: "err := v.Members.each(ctx, v.Wrap, " +
				"func(ctx context.Context, m *Member) error { return m.inspect(ctx) })",
			New: "var err error\n	var there Members\n	for _, m := range v.Members {\n" +
				"		if m.inspect(ctx) == nil {\n			there = append(there, m)\n		}\n	}\n" +
				"	v.Members = there",
			Killer: by(guarding, "TestAVouchNeedsAllNodes"),
		},
		{
			Bug: "a vouch for nodes that were used", Why: "locks on them may be valid",
			File: "lock/redlock/guard/vouch.go", Old: "if err != nil || kind == \"\" {",
			New:    "if err != nil || kind != \"-\" {",
			Killer: by(redlock, "TestRealVouchRefuses/one_was_used"),
		},
		{
			Bug: "a vouch for a node that was emptied", Why: "a lock that FLUSHALL deleted gets a second holder",
			File: "lock/redlock/guard/vouch.go", Old: "case m.info.Ran(\"flushall\"), m.info.Ran(\"flushdb\"):",
			New:    "case m.info.Ran(\"flushall\") && m.info.Ran(\"flushdb\"):",
			Killer: by(guarding, "TestAVouchAsksWhatAServerSaysOfItself"),
		},
		{
			Bug:  "a vouch for a node that has no marker beside one that votes",
			Why:  "it restarted without its data, and forgot a lock that the other never had",
			File: "lock/redlock/guard/vouch.go", Old: "case others && (m.marker", New: "case others && false && (m.marker",
			Killer: by(guarding, "TestAVouchAsksWhatAServerSaysOfItself"),
		},
		{
			Bug:  "a vouch that has ended quarantines takes its other marks back",
			Why:  "the nodes that it did not reach look like nodes that were emptied since",
			File: "lock/redlock/guard/vouch.go", Old: "if err != nil && v.voting() == 0 {", New: "if err != nil {",
			Killer: by(guarding, "TestAVouchThatEndedNodesLeavesItsMarks"),
		},
		{
			Bug:  "a vouch for a restarted node is good for any quarantine of it",
			Why:  "said again after a FLUSHALL, it ends that one's",
			File: "lock/redlock/guard/vouch.go", Old: "+ \"|\" + v.Identity + \"|\"", New: "+ \"|\"",
			Killer: by(guarding, "TestAVouchForARestartedNodeIsGoodOnce"),
		},
	}
}

// quarantineMutants are bugs in how long a server that may have forgotten keeps silent.
func quarantineMutants() []Mutant {
	return []Mutant{
		{
			Bug: "the quarantine is half as long", Why: "a lock that was forgotten is still valid when it ends",
			File: "lock/redlock/options.go", Old: "return max(maxTTL+engine.Drift(maxTTL), minQuarantine)",
			New:    "return max(maxTTL+engine.Drift(maxTTL), minQuarantine) / 2",
			Killer: by(redlock, "TestQuarantineOutlivesEveryLock"),
		},
		{
			Bug: "the quarantine is skipped", Why: "a node that was emptied votes at once",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "  return {0, marker, length}\nend\nlength,",
			New:    "  redis.call('SET', KEYS[1], 'voting' .. whose)\n  return {1, 'voting' .. whose}\nend\nlength,",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
		{
			Bug:  "the quarantine ends by the callers' clock alone",
			Why:  "a caller whose clock is stepped ends it at once",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "and now - node_began >= length and caller",
			New:    "and caller",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
		{
			Bug:    "the quarantine ends by the node's clock alone",
			Why:    "a node that boots with a clock an hour slow, and is set right, votes at once",
			File:   "lock/redlock/internal/scripts/quarantine.lua",
			Old:    "and now - node_began >= length and caller - caller_began >= length then",
			New:    "and now - node_began >= length then",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
		{
			Bug:  "the count begins with who has not read the quarantine",
			Why:  "a call that was stamped before it began, and came late, makes it shorter",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "if ARGV[7] == identity and (node_began == 0",
			New:    "if (node_began == 0",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
		{
			Bug:  "the count goes on where a clock was stepped back",
			Why:  "what it had counted was counted by a clock that was ahead",
			File: "lock/redlock/internal/scripts/quarantine.lua",
			Old:  "or now + 1 < node_began or caller + 1 < caller_began) then", New: ") then",
			Killer: by(scripting, "TestScriptsQuarantineBeginsAnewWhereAClockWentBack"),
		},
		{
			Bug: "who asks for a longer quarantine is given the shorter", Why: "its own locks may be valid for longer",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "if length < tonumber(ARGV[5]) then",
			New:    "if false then",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
		{
			Bug:  "a quarantine of before the restart goes on",
			Why:  "it was counted for what was forgotten then, not for what was since",
			File: "lock/redlock/internal/scripts/quarantine.lua",
			Old:  "known = known and run_id == ARGV[2] and db == ARGV[3]", New: "known = known and db == ARGV[3]",
			Killer: by(scripting, "TestScriptsQuarantineBeginsAnewAfterARestart"),
		},
		{
			Bug: "an unfinished change ends by itself", Why: "the old set may have a quorum yet",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "if state == 'changing' then",
			New:    "if false then",
			Killer: by(scripting, "TestScriptsQuarantineEndsByBothClocks"),
		},
	}
}

package bugs

// serverMutants are bugs in what servers of other versions say, and in the order of those that wait.
func serverMutants() []Mutant {
	const (
		conn    = "./lock/redlock/redisconn"
		scripts = "./lock/redlock/internal/scripts"
	)
	return []Mutant{
		{
			Bug: "what Redis 7.2 says of rights inside a script is unknown", Why: "a user without them waits for its deadline",
			File:   "lock/redlock/redisconn/errors.go",
			Old:    "\"ACL failure in script\",         //",
			New:    "\"ACL failed\",                    //",
			Killer: by(conn, "TestErrorsAreDistinguishedAndScrubbed"),
		},
		{
			Bug: "a fair call that was named asks all nodes", Why: "it overtakes, if it was named for the call before it",
			File:   "lock/engine/internal/contest/terms.go",
			Old:    "case c.req.Opts.Fair:\n\t\treturn c.pace.polls%2 == 0\n\tcase c.named:\n\t\treturn false",
			New:    "case c.named:\n\t\treturn false\n\tcase c.req.Opts.Fair:\n\t\treturn c.pace.polls%2 == 0",
			Killer: by(contests, "TestTheGateIsAskedFirst"),
		},
		{
			Bug: "a place that a grant given back has left stays", Why: "the next call of the process overtakes",
			File:   "lock/engine/internal/contest/gate.go",
			Old:    "g.unknownTicket = g.unknownTicket || g.ticket == 0",
			New:    "g.unknownTicket = false",
			Killer: by(contests, "TestAPlaceThatWasNotToldIsGivenUp"),
		},
		{
			Bug: "namenext.lua: who was named too early is not named again", Why: "a freed lock waits for the next poll",
			File:   "lock/redlock/internal/scripts/namenext.lua",
			Old:    "local early = result == 1 and",
			New:    "local early = false and",
			Killer: by(scripts, "TestScriptsNameAgainWhoWasNamedTooEarly"),
		},
		{
			Bug: "a bar that ends years ahead keeps readers out", Why: "nobody reads until then",
			File:   "lock/redlock/internal/scripts/rwshared.lua",
			Old:    " or tonumber(expiry) > now + 86400000 then",
			New:    " then",
			Killer: by(scripts, "TestScriptsPassOverABarOfYears"),
		},
		{
			Bug: "leases acquired together are renewed together", Why: "a burst of renewals that meet their timeout",
			File:   "lock/engine/internal/attempt/beginning.go",
			Old:    "at := since + longest - a.Set.Config.Jitter(longest/4)",
			New:    "at := since + longest",
			Killer: by("./lock/engine", "TestLeasesAcquiredTogetherAreRenewedApart"),
		},
		{
			Bug: "a node that is down is dialled in a loop", Why: "many processes keep a busy node from answering any of them",
			File:   "lock/redlock/internal/wakeup/listener.go",
			Old:    "pause = min(2*pause, lastPause)",
			New:    "pause = firstPause",
			Killer: by("./lock/redlock/internal/wakeup", "TestADeadNodeIsDialledLessAndLess"),
		},
		{
			Bug: "a refused writer does not wait for the gate", Why: "it has no place in the queue, and all others overtake it",
			File:   "lock/engine/internal/attempt/vote.go",
			Old:    "if err == nil && a.Waiter.Enqueue && a.Waiter.Ticket == 0 && !a.Start.GateFirst {",
			New:    "if false {",
			Killer: by(readWriteLocks, "TestAWriterQueuesAtASlowNode"),
		},
	}
}

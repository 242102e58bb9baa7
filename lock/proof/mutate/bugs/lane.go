package bugs

// laneMutants are bugs in how commands travel to Redis, and in what is told of them.
func laneMutants() []Mutant {
	return []Mutant{
		{
			Bug:  "a lane sends a whole batch again after NOSCRIPT",
			Why:  "a release that was carried out is repeated, and says that there was no lock",
			File: "lock/redlock/internal/lanes/carrier.go", Old: "		if c.unknownScript() {",
			New:    "		if c.unknownScript() || len(sent) > 0 {",
			Killer: by(redlock, "TestRealManyCallersShareFewConnections"),
		},
		{
			Bug:  "a lane sends a batch again when its connection broke",
			Why:  "what was carried out is repeated behind the engine's back",
			File: "lock/redlock/internal/lanes/carrier.go",
			Old:  "	if err == nil {\n		err = r.loadScripts(sent)",
			New: "	if err != nil {\n		if r.drop(); r.connect() {\n			err = r.exchange(sent, " +
				"(*Command).byHash)\n		}\n	}\n	if err == nil {\n		err = r.loadScripts(sent)",
			Killer: by(redlock, "TestRealReleaseWhoseReplyIsLost"),
		},
		{
			Bug: "go-redis sends commands again by itself", Why: "as above",
			File: "lock/redlock/redisconn/derive.go", Old: "	if l.Retries == 0 {\n		return -1\n	}", New: "",
			Killer: by(conn, "TestDerivedOptions"),
		},
		{
			Bug:  "a caller that asks by itself waits for its batch when it is cancelled",
			Why:  "a request that was cancelled hangs for as long as the node does",
			File: "lock/redlock/internal/lanes/borrow.go", Old: "c.answered || c.Call.Wait.Err() != nil",
			New:    "c.answered",
			Killer: by(redlock, "TestRealCancelledWhileAsking"),
		},
		{
			Bug:  "a command that was written is said not to be sent when its time is up",
			Why:  "no tombstone where one is needed",
			File: "lock/redlock/internal/lanes/command.go", Old: "	if c.written {\n", New: "	if false {\n",
			Killer: by(lanes, "TestACommandThatWasWrittenMayTakeEffect"),
		},
		{
			Bug: "an error quotes the arguments of a command", Why: "owner tokens in logs",
			File: "lock/redlock/redisconn/errors.go", Old: "; quotes {", New: "; quotes && text == \"\" {",
			Killer: by(conn, "TestErrorsAreDistinguishedAndScrubbed"),
		},
		{
			Bug: "an error quotes a URL", Why: "passwords in logs",
			File: "lock/redlock/open.go", Old: "return nil, errMalformedURL", New: "return nil, err",
			Killer: by(redlock, "TestOpenRefusesBadURLsWithoutTheirText"),
		},
		{
			Bug:  "a connection that go-redis has given up is used again",
			Why:  "a node that was a replica for a moment goes on being refused for it",
			File: "lock/redlock/internal/lanes/connection.go", Old: "isBroken(err) || redisconn.IsGivenUp(err)",
			New:    "isBroken(err) || err != nil && redisconn.IsGivenUp(nil)",
			Killer: by(redlock, "TestRealPromotedAgain"),
		},
		{
			Bug:  "all nodes that refuse are said to do so in one name",
			Why:  "a page names who held the lock before, and not who holds it",
			File: "lock/engine/internal/ballot/ballot.go",
			Old:  "Named: b.inNameOf(worst.Holder)", New: "Named: b.Tally.Refused",
			Killer: by(engine, "TestTheHolderHasMostNodes"),
		},
		{
			Bug:    "a renewal that a release overtakes is reported as a loss",
			Why:    "with hand-overs, boards show losses that did not happen",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "	case cause != nil && lock.ReasonOf(cause) != lock.ReasonLost:",
			New:    "	case cause != nil && false:",
			Killer: by(engine, "TestExtendOfALeaseThatIsReleasedMeanwhile"),
		},
	}
}

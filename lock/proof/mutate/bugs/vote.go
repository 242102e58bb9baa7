package bugs

// The packages whose tests kill.
const (
	engine   = "./lock/engine"
	contests = "./lock/engine/internal/contest"
	attempts = "./lock/engine/internal/attempt"
	leases   = "./lock/engine/internal/lease"
	nodes    = "./lock/engine/internal/nodes"
	peeks    = "./lock/engine/internal/peek"
	queues   = "./lock/engine/internal/queue"
	votes    = "./lock/engine/internal/quorum"
	calls    = "./lock/engine/internal/callqueue"
	clocks   = "./lock/engine/internal/clock"
	workers  = "./lock/engine/internal/workers"
	memory   = "./lock/memlock"
	redlock  = "./lock/redlock"
	guarding = "./lock/redlock/guard"
	conn     = "./lock/redlock/redisconn"
	fakes    = "./lock/locktest"
	states   = "./lock/internal/memstate"

	lanes      = "./lock/redlock/internal/lanes"
	scripting  = "./lock/redlock/internal/scripts"
	standalone = "./lock/redlock/internal/standalone"
)

// voteMutants are bugs in what a vote is, and when it is over.
func voteMutants() []Mutant {
	return []Mutant{
		{
			Bug: "a quorum is one node too small", Why: "two halves of an even set both have the lock",
			File: "lock/engine/internal/quorum/quorum.go", Old: "return nodes/2 + 1", New: "return (nodes + 1) / 2",
			Killer: by(votes, "TestTallyDecidesBothWaysForAnyNumberOfNodes"),
		},
		{
			Bug: "a quorum is one node too large", Why: "one node that fails takes the lock away from everybody",
			File: "lock/engine/internal/quorum/quorum.go", Old: "return nodes/2 + 1", New: "return nodes/2 + 2",
			Killer: by(memory, "TestOneNodeDeniesFreezesOrIsSlow/denies"),
		},
		{
			Bug: "a vote is won with one grant too few", Why: "two holders",
			File: "lock/engine/internal/quorum/quorum.go", Old: "return t.Granted >= Of(t.Nodes)",
			New:    "return t.Granted >= Of(t.Nodes)-1",
			Killer: by(votes, "TestTallyDecidesBothWaysForAnyNumberOfNodes"),
		},
		{
			Bug:  "a vote is lost one failure late",
			Why:  "a caller waits for slow nodes although nothing can be won any more",
			File: "lock/engine/internal/quorum/quorum.go", Old: "return t.Refused+t.Failed > t.Nodes-Of(t.Nodes)",
			New:    "return t.Refused+t.Failed > t.Nodes-Of(t.Nodes)+1",
			Killer: by(votes, "TestTallyDecidesBothWaysForAnyNumberOfNodes"),
		},
		{
			Bug:  "with a node down, a held lock is reported as 'no quorum'",
			Why:  "95 of 100 callers read that Redis is broken",
			File: "lock/engine/internal/ballot/ballot.go", Old: "return t.Refused > 0 && t.Failed <=",
			New:    "return false && t.Failed <=",
			Killer: by(engine, "TestHeldByWhoMayHaveTheNodesThatFailed"),
		},
		{
			Bug:  "the vote does not wait for refusals that may name the holder",
			Why:  "chance decides between 'no quorum' and 'held'",
			File: "lock/engine/internal/ballot/ballot.go",
			Old:  "return t.Failed+missing <= spare\n", New: "return true\n",
			Killer: by(engine, "TestHeldIsHeldWithNodesDown"),
		},
		{
			Bug:  "one token for all attempts of a process",
			Why:  "a late release of one attempt undoes the next: two holders",
			File: "lock/engine/internal/attempt/attempt.go", Old: "Token: newToken()", New: "Token: e.ID + e.ID",
			Killer: by(engine, "TestATokenIsOfOneAttempt"),
		},
		{
			Bug:    "an attempt that failed is not given back",
			Why:    "a minority stays locked for nobody until the TTL is over",
			File:   "lock/engine/internal/attempt/attempt.go",
			Old:    "	if res.Err != nil {\n		a.abandon()\n	}\n	return res",
			New:    "	return res",
			Killer: by(redlock, "TestRealCancelAcquireWithoutQuorum"),
		},
		{
			Bug:  "a caller that gives up waits for the nodes",
			Why:  "a cancelled request hangs for as long as a node does",
			File: "lock/engine/internal/await/await.go", Old: "case <-ctx.Done():\n			return Ended(ctx)",
			New:    "case <-(chan struct{})(nil):\n			return Ended(ctx)",
			Killer: by(redlock, "TestRealCancelAcquireWithoutQuorum"),
		},
		{
			Bug:  "a grant to the token that has the lock already is refused",
			Why:  "who sends an acquire twice is locked out by itself",
			File: "lock/redlock/internal/scripts/acquire.lua",
			Old:  "if string.sub(value, 1, #token + 1) == token .. ':' then", New: "if false then",
			Killer: by(scripting, "TestScriptsCompareTokens"),
		},
	}
}

// validityMutants are bugs in for how long a holder believes that it is one.
func validityMutants() []Mutant {
	return []Mutant{
		{
			Bug: "nothing is given up to clocks", Why: "a node 1 % fast lets the next holder in before this one knows",
			File: "lock/engine/internal/nodes/config.go",
			Old:  "return ttl/100 + 2*time.Millisecond", New: "return 0 * ttl",
			Killer: by(engine, "TestValidityCountsFromBeforeTheFirstRequest"),
		},
		{
			Bug:  "validity counts from after the vote",
			Why:  "the nodes have counted since before: by then they may have let another in",
			File: "lock/engine/internal/attempt/attempt.go", Old: "a.began = a.Set.Config.Clock()\n	res := a.vote(ctx)",
			New:    "res := a.vote(ctx)\n	a.began = a.Set.Config.Clock()",
			Killer: by(engine, "TestValidityCountsFromBeforeTheFirstRequest"),
		},
		{
			Bug: "an extend counts from after its answers", Why: "as above, with each renewal",
			File: "lock/engine/internal/lease/renew.go", Old: "l.prolong(r.began+ttl-nodes.Drift(ttl))",
			New:    "l.prolong(l.set.Config.Clock()+ttl-nodes.Drift(ttl))",
			Killer: by(engine, "TestValidityCountsFromBeforeTheFirstRequest"),
		},
		{
			Bug:  "an attempt that took longer than its TTL succeeds",
			Why:  "the nodes have let go of the lock before its holder has it",
			File: "lock/engine/internal/attempt/attempt.go", Old: "if a.validity <= 0 {", New: "if false {",
			Killer: by(engine, "TestAnAttemptThatTookLongerThanItsTTLFails"),
		},
		{
			Bug:  "a lease that ran out before it was returned is returned",
			Why:  "its holder works with a lock that is another's",
			File: "lock/engine/internal/lease/lease.go", Old: "late = now >= l.expires", New: "late = false",
			Killer: by(engine, "TestALeaseThatRanOutBeforeItWasReturned"),
		},
		{
			Bug: "the loss timer is 50 ms late", Why: "the holder works on after another was let in",
			File: "lock/engine/internal/lease/lease.go", Old: "return min(l.expires,",
			New:    "return min(l.expires+50*time.Millisecond,",
			Killer: by(engine, "TestLossIsSignalledWhenValidityEnds"),
		},
		{
			Bug:  "time during which the machine was suspended does not count",
			Why:  "a laptop wakes up and trusts a lease of yesterday",
			File: "lock/engine/internal/clock/clock.go", Old: "return now + time.Duration(c.suspended.Load())",
			New:    "return now",
			Killer: by(clocks, "TestClockCountsSuspension"),
		},
		{
			Bug:  "a lease is not looked at while nothing is due",
			Why:  "timers stand still in a suspended machine: the loss is signalled hours late",
			File: "lock/engine/internal/lease/lease.go", Old: "const maxUnwatched = time.Second",
			New:    "const maxUnwatched = time.Hour",
			Killer: by(engine, "TestSuspendedHostDoesNotTrustItsLease"),
		},
		{
			Bug: "MaxHold is ignored", Why: "a forgotten lease is renewed for ever",
			File: "lock/engine/internal/lease/lease.go",
			Old:  "if c.Opts.MaxHold < clock.Never-from.Since {", New: "if false {",
			Killer: by(engine, "TestHandOverIsRefused/the_end_of_MaxHold"),
		},
	}
}

package bugs

// orderMutants are bugs in the order of calls on a node, and of callers of a process.
func orderMutants() []Mutant {
	return []Mutant{
		{
			Bug:  "calls about one resource on one node overtake each other",
			Why:  "a release is there before the acquire that it undoes",
			File: "lock/engine/internal/callqueue/callqueue.go", Old: "	if q.busy {\n",
			New:    "	if q.busy && q.Owner != nil {\n",
			Killer: by(calls, "TestCallsStartInOrderAndOneAtATime"),
		},
		{
			Bug: "of the calls that wait the last goes first", Why: "as above",
			File:   "lock/engine/internal/callqueue/callqueue.go",
			Old:    "call := q.waiting[0]\n		q.waiting = q.waiting[1:]",
			New:    "call := q.waiting[len(q.waiting)-1]\n		q.waiting = q.waiting[:len(q.waiting)-1]",
			Killer: by(calls, "TestCallsStartInOrderAndOneAtATime"),
		},
		{
			Bug:  "a resource is forgotten while calls about it are under way",
			Why:  "the next caller of this process goes beside them, not behind",
			File: "lock/engine/internal/queue/queues.go",
			Old:  "if q.On[i].IsBusy() {", New: "if q.On[i].IsBusy() && q == nil {",
			Killer: by(queues, "TestAQueueIsKeptUntilItsCallsAreDone"),
		},
		{
			Bug: "a node is asked to set a token that was given up", Why: "a lock that nobody knows of",
			File: "lock/engine/internal/attempt/grant.go", Old: "case !g.Open() || !time.Now().Before(g.deadline):",
			New:    "case !time.Now().Before(g.deadline):",
			Killer: by(engine, "TestWhatWasGivenUpIsNotSent"),
		},
		{
			Bug: "callers of a process are served last come first", Why: "the first waiter starves",
			File:   "lock/engine/internal/queue/line.go",
			Old:    "first := q.turns[0]\n	q.turns[0] = nil\n	q.turns = q.turns[1:]",
			New:    "first := q.turns[len(q.turns)-1]\n	q.turns = q.turns[:len(q.turns)-1]",
			Killer: by(queues, "TestTurnsAreFirstComeFirstServed"),
		},
		{
			Bug: "a turn that comes as its caller gives up is lost", Why: "the callers behind it wait for ever",
			File:   "lock/engine/internal/queue/line.go",
			Old:    "	if !t.Handed {\n		q.pass()\n	}\n	return t.Handed",
			New:    "	return t.Handed",
			Killer: by(queues, "TestTurnsAreFirstComeFirstServed"),
		},
	}
}

// handOverMutants are bugs in handing a lock over inside a process.
func handOverMutants() []Mutant {
	return []Mutant{
		{
			Bug:  "a lock is handed over after its lease has ended",
			Why:  "two leases on one grant, or one on a lock that is lost",
			File: "lock/engine/internal/lease/handover.go", Old: "if l.ended != nil || len(l.rounds) > 0 ||",
			New:    "if len(l.rounds) > 0 ||",
			Killer: by(leases, "TestALeaseThatHasEndedHandsNothingOver"),
		},
		{
			Bug:  "a lock is handed over while a round of renewal is at it",
			Why:  "how that ends is not known: the next one is lost as it begins",
			File: "lock/engine/internal/lease/handover.go", Old: "if l.ended != nil || len(l.rounds) > 0 ||",
			New:    "if l.ended != nil ||",
			Killer: by(engine, "TestHandOverIsRefused/a_renewal_under_way"),
		},
		{
			Bug:  "a lock is handed over with little validity left",
			Why:  "the next one runs out before it can be renewed",
			File: "lock/engine/internal/lease/handover.go", Old: "|| 3*(l.expires-now) < 2*(ttl-nodes.Drift(ttl)) {",
			New:    "|| 3*(l.expires-now) < 0*nodes.Drift(ttl) {",
			Killer: by(engine, "TestHandOverIsRefused/less_than_that"),
		},
		{
			Bug: "a lock is handed over for a second", Why: "other processes starve",
			File: "lock/engine/internal/attempt/beginning.go", Old: "HandOverWindow = 10 * time.Millisecond",
			New:    "HandOverWindow = time.Second",
			Killer: by(engine, "TestTurnIsPassedAfterTheWindow"),
		},
		{
			Bug:  "a lock is handed over past its window, where no timer has gone off",
			Why:  "a host that was suspended hands over what ran out",
			File: "lock/engine/internal/lease/handover.go", Old: "now >= l.keepUntil || ", New: "",
			Killer: by(engine, "TestSuspendedHostHandsNothingOver"),
		},
		{
			Bug: "a lock is handed over to who wants another TTL", Why: "it runs out earlier than was asked for",
			File:   "lock/engine/internal/lease/handover.go",
			Old:    "return attempt.HandsOver(o) && o.TTL == l.attempt.Opts.TTL",
			New:    "return attempt.HandsOver(o)",
			Killer: by(engine, "TestHandOverIsRefused/another_TTL"),
		},
		{
			Bug: "a fair caller is handed the lock", Why: "it overtakes the processes that wait",
			File: "lock/engine/internal/attempt/beginning.go",
			Old:  "return !o.NoRenew && !o.Fair", New: "return !o.NoRenew",
			Killer: by(engine, "TestHandOverIsRefused/a_fair_waiter"),
		},
		{
			Bug:  "a lease that was handed over has the fence of the one before",
			Why:  "the store cannot tell the two apart",
			File: "lock/engine/internal/lease/handover.go", Old: "Fence: l.fence + 1,",
			New:    "Fence: l.fence,",
			Killer: by(engine, "TestHandOver"),
		},
		{
			Bug: "fences are handed out past the end of the run", Why: "they are granted to another process as well",
			File: "lock/engine/internal/attempt/beginning.go", Old: "|| b.Fence >= b.Last ||", New: "||",
			Killer: by(engine, "TestRunIsUsedUp"),
		},
		{
			Bug: "a caller that gives up as it is handed the lock keeps it", Why: "nobody has it until its TTL is over",
			File:   "lock/engine/internal/contest/turn.go",
			Old:    "<-turn.Come // the lease before has ended\n		c.giveBack(turn.From)",
			New:    "<-turn.Come // the lease before has ended",
			Killer: by(engine, "TestGivingUpInTheInstantOfAHandOver"),
		},
	}
}

// waitMutants are bugs in waiting.
func waitMutants() []Mutant {
	return []Mutant{
		{
			Bug: "a call by name wakes nobody up", Why: "every hand-off takes a poll",
			File: "lock/engine/internal/queue/queues.go", Old: "q.signal(WakeUp{Named: true})", New: "_ = q",
			Killer: by(memory, "TestWaitersAreNamed"),
		},
		{
			Bug: "messages of releases are not passed on", Why: "as above, on Redis",
			File: "lock/redlock/internal/wakeup/listener.go", Old: "if m, ok := msg.(*redis.Message); ok {",
			New:    "if m, ok := msg.(*redis.Message); ok && m == nil {",
			Killer: by(redlock, "TestRealHandOffOrder/3"),
		},
		{
			Bug:  "a name is lost where another hint waits already",
			Why:  "who was named asks the gate first, and is late",
			File: "lock/engine/internal/queue/queue.go", Old: "	if w.Named {\n", New: "	if false {\n",
			Killer: by(queues, "TestBeingNamedOutweighsOtherHints"),
		},
		{
			Bug:  "a named waiter asks the gate first",
			Why:  "two round trips where one is enough: the window in which it is kept may be over",
			File: "lock/engine/internal/contest/terms.go", Old: "	case c.named:\n		return false",
			New:    "	case c.named:\n		return true",
			Killer: by(engine, "TestANamedWaiterAsksAllNodesAtOnce"),
		},
		{
			Bug: "a named waiter does not try, it waits for its timer", Why: "every hand-off takes a poll",
			File: "lock/engine/internal/contest/wait.go", Old: "		case got := <-w.wake:\n			return &got, nil\n",
			New:    "",
			Killer: by(memory, "TestWaitersAreNamed"),
		},
		{
			Bug: "who gives up stays in the queue", Why: "the lock is kept for it when its turn comes",
			File:   "lock/engine/internal/contest/contend.go",
			Old:    "if err := c.wait(ctx, res); err != nil {\n			c.leave(ctx, nil)",
			New:    "if err := c.wait(ctx, res); err != nil {",
			Killer: by(redlock, "TestRealCancelWaiter"),
		},
		{
			Bug: "a node names the waiter that came last", Why: "the first waiter starves",
			File: "lock/redlock/internal/scripts/handoff.lua", Old: "'ZPOPMIN'", New: "'ZPOPMAX'",
			Killer: by(scripting, "TestScriptsServeInOrder"),
		},
		{
			Bug: "a release keeps the lock for nobody", Why: "a newcomer is there before the one that was named",
			File: "lock/redlock/internal/scripts/handoff.lua",
			Old:  "redis.call('SET', reservation, head, 'PX', window_ms)", New: "redis.call('EXISTS', reservation)",
			Killer: by(scripting, "TestScriptsServeInOrder"),
		},
		{
			Bug: "a fair caller overtakes the queue", Why: "Fair promises that it does not",
			File: "lock/redlock/internal/scripts/acquire.lua",
			Old:  "if waiter and ARGV[8] ~= '0' and not reserved then", New: "if false then",
			Killer: by(scripting, "TestScriptsServeInOrder"),
		},
		{
			Bug:  "who leaves after it was named names nobody",
			Why:  "the lock is kept for a caller that is gone, and then found by polling",
			File: "lock/redlock/internal/scripts/leave.lua", Old: "if redis.call('EXISTS', KEYS[1]) == 0 then",
			New:    "if false then",
			Killer: by(scripting, "TestScriptsServeInOrder"),
		},
		{
			Bug: "a gate that hangs is waited for", Why: "one node that hangs costs every caller a node timeout",
			File: "lock/engine/internal/attempt/vote.go", Old: "return patience, patience < a.Timeout",
			New:    "return a.Timeout, false",
			Killer: by(engine, "TestAHungGateCostsMilliseconds"),
		},
	}
}

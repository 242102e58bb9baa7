package bugs

const (
	pg = "./lock/pglock"
	zk = "./lock/contrib/zklock"

	zkClaims = zk + "/internal/claims"
	zkNode   = zk + "/internal/node"

	pgFunctions = "lock/pglock/schema/functions.sql"
	pgShared    = "lock/pglock/schema/functions_shared.sql"
)

// postgresMutants are bugs in the functions of pglock's schema.
func postgresMutants() []Mutant {
	return []Mutant{
		{
			Bug:    "PostgreSQL: a lock is granted beside readers",
			Why:    "a holder beside readers",
			File:   pgFunctions,
			Old:    "  IF l.read_until > n THEN\n    code := 0;",
			New:    "  IF false THEN\n    code := 0;",
			Killer: by(pg, "TestConformance/Readers/a_lock_beside_readers"),
		},
		{
			Bug: "PostgreSQL: a lease that ran out is put back beside readers", Why: "a holder beside readers",
			File:   pgFunctions,
			Old:    "ELSIF l.token IS NOT NULL AND l.expires > n OR l.read_until > n THEN\n    RETURN -1;",
			New:    "ELSIF l.token IS NOT NULL AND l.expires > n THEN\n    RETURN -1;",
			Killer: by(pg, "TestPuttingBack"),
		},
		{
			Bug: "PostgreSQL: a reader that ran out is put back beside a writer", Why: "a reader beside a writer",
			File: pgShared, Old: "    IF l.token IS NOT NULL AND l.expires > n THEN\n      RETURN -1;",
			New:    "    IF false THEN\n      RETURN -1;",
			Killer: by(pg, "TestPuttingBack"),
		},
		{
			Bug:  "PostgreSQL: a reader that ran out is put back while a writer bars readers",
			Why:  "a writer waits for ever behind readers that renew",
			File: pgShared, Old: "\n      OR EXISTS (SELECT FROM waiter w WHERE w.key = p_key AND w.bar_until > n) THEN", New: " THEN",
			Killer: by(pg, "TestPuttingBack"),
		},
		{
			Bug: "PostgreSQL: a reader that was given up is granted late", Why: "a writer waits for nobody",
			File: pgShared, Old: "EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n)\n      INTO m.one",
			New:    "false\n      INTO m.one",
			Killer: by(pg, "TestPuttingBack"),
		},
		{
			Bug:  "PostgreSQL: the release of a reader ends all other readers, too",
			Why:  "a writer beside the readers that are left",
			File: pgShared, Old: "l.read_until := read_until(p_key, n);", New: "l.read_until := NULL;",
			Killer: by(pg, "TestConformance/Readers/release_twice"),
		},
		{
			Bug: "PostgreSQL: a release does not look whose lock it is", Why: "it releases another's",
			File: pgFunctions, Old: "  IF l.token = p_token THEN\n    what :=", New: "  IF l.token IS NOT NULL THEN\n    what :=",
			Killer: by(pg, "TestTombstones"),
		},
		{
			Bug: "PostgreSQL: a renewal does not wait for the disk", Why: "a crash takes it back: two leases",
			File:   pgFunctions,
			Old:    "    PERFORM durable();\n    UPDATE lock SET expires",
			New:    "    UPDATE lock SET expires",
			Killer: by(pg, "TestACrashKeepsWhatWasAnswered"),
		},
		{
			Bug:    "PostgreSQL: a change of the number of slots does not wait for the disk",
			Why:    "after a crash slots that are gone are granted again",
			File:   "lock/pglock/schema/functions_slots.sql",
			Old:    "    PERFORM durable();\n    INSERT INTO semaphore (key, slots, expires) VALUES (p_semaphore, p_to",
			New:    "    INSERT INTO semaphore (key, slots, expires) VALUES (p_semaphore, p_to",
			Killer: by(pg, "TestACrashKeepsWhatWasAnswered"),
		},
		{
			Bug: "PostgreSQL: a lock that has been held for a day is forgotten", Why: "two leases",
			File: pgFunctions, Old: "(token IS NULL OR expires < n - p_age) AND (next", New: "(next",
			Killer: by(pg, "TestPruningKeepsWhatIsHeld"),
		},
		{
			Bug: "PostgreSQL: a lock that has been read for a day is forgotten", Why: "a writer beside a reader",
			File: pgFunctions, Old: "(read_until IS NULL OR read_until < n - p_age) AND ", New: "",
			Killer: by(pg, "TestPruningKeepsWhatIsHeld"),
		},
		{
			Bug: "PostgreSQL: the fences of forgotten locks are forgotten, too", Why: "a fence goes back with the clock",
			File: pgFunctions, Old: "  UPDATE memory SET fence = greatest(fence, most);\n", New: "",
			Killer: by(pg, "TestPruningKeepsWhatIsHeld"),
		},
		{
			Bug: "PostgreSQL: the row has the first fence of the run that was granted", Why: "the next grant has fences of it",
			File: pgFunctions, Old: "fence = acquire.fence + acquire.run - 1, holder", New: "fence = acquire.fence, holder",
			Killer: by(pg, "TestARunIsNotGrantedAgain"),
		},
		{
			Bug:  "PostgreSQL: a server that may have forgotten locks lets in readers and writers",
			Why:  "two writers after a failover",
			File: pgShared,
			Old:  "    IF p_enforced THEN\n      code := 5; fence := 0;", New: "    IF false THEN\n      code := 5; fence := 0;",
			Killer: by(pg, "TestReadersAndObserversInQuarantine"),
		},
		{
			Bug: "PostgreSQL: a named waiter that leaves names nobody", Why: "a freed lock waits for the next poll",
			File: pgFunctions, Old: "    l.next := name_next(p_key, n);\n  END IF;\n  UPDATE lock SET next = l.next, next_until",
			New:    "    l.next := NULL;\n  END IF;\n  UPDATE lock SET next = l.next, next_until",
			Killer: by(pg, "TestANamedWaiterThatLeaves"),
		},
		{
			Bug: "PostgreSQL: a revoke marks the present holder", Why: "it ends another's lease",
			File: "lock/pglock/schema/functions_revoke.sql", Old: "IF named = '' OR named <> p_grant THEN",
			New:    "IF named = '' OR p_grant = '' THEN",
			Killer: by(pg, "TestConformance/Revoke/does_not_concern_who_came_since_it_asked"),
		},
	}
}

// ensembleMutants are bugs of etcdlock and zklock.
func ensembleMutants() []Mutant {
	return []Mutant{
		{
			Bug: "etcd: a claim whose answer was lost is taken for another's", Why: "its process waits for itself",
			File: "lock/etcdlock/internal/claims/enter.go", Old: "\t\tm.Again && !m.Succeeded {", New: "\t\tfalse {",
			Killer: by(etcd, "TestTheAnswerToAClaimIsLost"),
		},
		{
			Bug: "etcd: a waiter's claim is made twice if its answer was lost", Why: "the waiter stands behind itself",
			File:   "lock/etcdlock/internal/claims/enter.go",
			Old:    "\t\tcmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(c.key), \"=\", 0))\n",
			New:    "",
			Killer: by(etcd, "TestTheAnswerToAWaitingClaimIsLost"),
		},
		{
			Bug:  "etcd: a claim that may still arrive is deleted, and its etcd lease used again",
			Why:  "it makes a key that nobody gives back",
			File: "lock/etcdlock/internal/claims/protocol.go", Old: "if bury || c.unsure.Load() || c.made == 0 {",
			New:    "if bury || c.made == 0 {",
			Killer: by(etcd, "TestAClaimThatArrivesAfterItsRelease"),
		},
		{
			Bug: "etcd: an etcd lease is used again with what time is left of it", Why: "it ends before the lock: two leases",
			File:   "lock/etcdlock/internal/store/lease.go",
			Old:    "l.renewed()+l.TTL >= began+ttl",
			New:    "l.renewed()+l.TTL >= began",
			Killer: by(etcd, "TestTheEtcdLeaseOutlivesTheLock"),
		},
		{
			Bug: "etcd: a revoke marks the present holder", Why: "it ends another's lease",
			File: "lock/driver/claimlist/revoke.go", Old: "req.Grant == \"\" || reply.Grant != req.Grant {",
			New:    "req.Grant == \"\" {",
			Killer: by(etcd, "TestConformanceOfOneMember/Revoke/does_not_concern_who_came_since_it_asked"),
		},
		{
			Bug: "ZooKeeper: the base of the fences is that of the session before", Why: "on a new ensemble a fence goes back",
			File: "lock/contrib/zklock/internal/claims/fence.go", Old: "f.session != session || f.base == 0",
			New:    "f.base == 0",
			Killer: by(zkClaims, "TestTheBaseIsReadInEachSession"),
		},
		{
			Bug: "ZooKeeper: a peek does not sync", Why: "an observer sees a leader that has resigned",
			File:   "lock/contrib/zklock/internal/claims/holder.go",
			Old:    "if err := p.zk.Sync(p.tree.root); err != nil && !errors.Is(err, zk.ErrNoNode) {",
			New:    "if err := error(nil); err != nil {",
			Killer: by(zkNode, "TestPeekSyncs"),
		},
		{
			Bug: "ZooKeeper: who has waited for a slot gets it, although it is gone", Why: "more permits than there are",
			File: "lock/contrib/zklock/internal/claims/enter.go", Old: "if queued && w.Semaphore != nil {", New: "if false {",
			Killer: by(zkNode, "TestAWaiterForASlotThatIsGone"),
		},
		{
			Bug: "ZooKeeper: a writer takes over the claim with which a reader of its process waits", Why: "a reader beside a writer",
			File: "lock/contrib/zklock/internal/claims/claim.go", Old: "if w.Reads != c.want.Reads {", New: "if false {",
			Killer: by(zkNode, "TestAWriterIsNoReader"),
		},
		{
			Bug: "ZooKeeper: a claim that is made after its attempt was given up stays", Why: "others wait for nobody",
			File: "lock/contrib/zklock/internal/node/calls.go", Old: "late := func() { n.claims.RemoveBuried(c) }",
			New:    "late := func() {}",
			Killer: by(zk, "TestAHungServer"),
		},
		{
			Bug: "ZooKeeper: a renewal writes whatever the claim says", Why: "it erases the mark of a revoke, and goes on",
			File:   "lock/contrib/zklock/internal/claims/renew.go",
			Old:    "stat, err := p.zk.Set(path, data, c.writtenVersion())\n\t\tif err == nil {",
			New:    "stat, err := p.zk.Set(path, data, -1)\n\t\tif err == nil {",
			Killer: by(zkClaims, "TestMarkIsNotOverwritten"),
		},
	}
}

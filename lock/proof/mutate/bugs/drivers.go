package bugs

const etcd = "./lock/etcdlock"

// placeMutants are bugs that cost a lock, a place in a queue or the truth, although every server does what it should.
func placeMutants() []Mutant {
	return []Mutant{
		{
			Bug:    "etcd: the leader of the answer's term is taken for the one that granted the etcd lease",
			Why:    "the one that did comes back and revokes it: two leases",
			File:   "lock/etcdlock/internal/store/lease.go",
			Old:    "if term != resp.RaftTerm {\n\t\tterm = 0",
			New:    "if term != resp.RaftTerm {\n\t\tterm = resp.RaftTerm",
			Killer: by(etcd, "TestGrantAnsweredInALaterTerm"),
		},
		{
			Bug:    "a name for a slot that this process holds is dropped",
			Why:    "the waiter that was named is in no queue any more",
			File:   "lock/engine/internal/queue/slots.go",
			Old:    "if q := all.byKey[key]; q != nil && q.nameDue {\n",
			New:    "if q := all.byKey[key]; q != nil {\n",
			Killer: by("./lock/engine/internal/queue", "TestANameForASlotHeldHere"),
		},
		{
			Bug:  "a key that is put back has the last fence of the run instead of the lease's",
			Why:  "an observer sees a term that has not begun",
			File: "lock/engine/internal/lease/renew.go", Old: "Fence: l.fence, Last: l.last,", New: "Fence: l.last, Last: l.last,",
			Killer: by("./lock/engine", "TestExtendsAskForARefill"),
		},
		{
			Bug: "a restart ends an unfinished change", Why: "the node votes for the new set while the old one has a majority",
			File: "lock/redlock/internal/scripts/quarantine.lua", Old: "if state == 'changing' then",
			New:    "if state == 'changing' and run_id == ARGV[2] then",
			Killer: by(redlock, "TestRealRestartInAnUnfinishedChange"),
		},
	}
}

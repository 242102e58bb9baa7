package bugs

const etcd = "./lock/etcdlock"

// placeMutants are bugs that cost a lock, or a place in a queue, although every server does what it should.
func placeMutants() []Mutant {
	return []Mutant{
		{
			Bug:    "etcd: the leader of the answer's term is taken for the one that granted the etcd lease",
			Why:    "the one that did comes back and revokes it: two leases",
			File:   "lock/etcdlock/lease.go",
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
	}
}

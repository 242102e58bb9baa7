// Package ballot says what the answers of nodes amount to: who won a vote, who holds the lock, and what to tell a
// caller that has no quorum.
package ballot

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Ballot collects an attempt's votes and says what they mean. The attempt's mutex guards it.
type Ballot struct {
	Resource string
	Key      string
	Gate     int           // index of the node whose queue is joined
	Names    Names         // of the nodes
	Timeout  time.Duration // of one call on a node
	Tally    Tally
	Answered int
	GateOnly bool            // the gate's vote is all that is wanted for now
	Closed   bool            // later votes do not count
	Asked    uint64          // set of nodes
	voted    uint64          // set of nodes
	Granted  uint64          // set of nodes
	Refused  uint64          // set of nodes
	free     []time.Duration // per node that answered: until its TTL has run out
	blockers []driver.AcquireReply
	Failures Failures
	ticket   int64
	ahead    int
	open     int
}

// Count takes one vote.
func (b *Ballot) Count(from int, reply driver.AcquireReply, err error) {
	if b.Closed || b.voted&(1<<from) != 0 {
		return
	}
	b.voted |= 1 << from
	b.Answered++
	switch {
	case err != nil:
		b.Tally.Failed++
		b.fail(from, err)
	case reply.Granted:
		b.Tally.Granted++
		b.Granted |= 1 << from
	default:
		b.Tally.Refused++
		b.Refused |= 1 << from
		b.blockers = append(b.blockers, reply)
		if reply.TTL < 0 {
			b.free = append(b.free, clock.Never)
		} else {
			b.free = append(b.free, reply.TTL)
		}
		if from == b.Gate {
			b.ticket, b.ahead, b.open = reply.Ticket, reply.Ahead, reply.Free
		}
	}
}

func (b *Ballot) fail(from int, err error) {
	b.Failures = append(b.Failures, b.Names.Failure(from, lock.OpAcquire, err))
}

// TimeOut counts every node that was asked and has not voted as failed, unless the vote
// is won without.
func (b *Ballot) TimeOut() {
	if b.Enough() {
		return
	}
	for i := range b.Names {
		if b.Asked&^b.voted&(1<<i) != 0 {
			b.Count(i, driver.AcquireReply{}, ErrSilent(b.Timeout))
		}
	}
}

// Enough reports that the missing votes can change neither who won nor the reason why nobody did.
//
// The reason matters as much as the outcome: a lock that somebody holds is waited for, and nodes that fail are not. Of five
// nodes, one has refused and two have failed. Nobody can win. If the other two refuse in the same name, another process
// holds the lock; if they fail, there is no quorum for anybody. So this vote goes on. With three refusals, or three
// failures, it is over. Between these, the name that most refusals give decides, together with the failures, which may hide
// more of it (one). If that is a quorum, only more failures than the lock bears could still make the nodes the reason. If it
// is none, the missing votes may make it one.
func (b *Ballot) Enough() bool {
	t := b.Tally
	switch {
	case b.GateOnly:
		return b.voted&(1<<b.Gate) != 0
	case t.Won(), b.Answered == t.Nodes:
		return true
	case !t.Lost():
		return false
	}
	missing, spare := t.Nodes-b.Answered, t.Nodes-Quorum(t.Nodes)
	one := b.inOneName() + t.Failed
	switch {
	case t.Held(), t.Failed > spare:
		return true
	case one >= Quorum(t.Nodes):
		return t.Failed+missing <= spare
	}
	return one+missing < Quorum(t.Nodes) && t.Refused+missing <= spare
}

// held reports that another holder has the resource, or is about to (counterexample 12 of lock/proof/spec). Either the refusals
// alone rule out a quorum, or one holder's refusals and the failed nodes could be its quorum.
// If so many nodes failed that nobody can win, the lock is not held: the nodes are at fault.
func (b *Ballot) held() bool {
	t := b.Tally
	if t.Held() {
		return true
	}
	return t.Refused > 0 && t.Failed <= t.Nodes-Quorum(t.Nodes) && b.inOneName()+t.Failed >= Quorum(t.Nodes)
}

// inOneName is the largest number of nodes that refused for the same holder. A node that keeps
// the lock for the next waiter names no holder, and counts for each.
func (b *Ballot) inOneName() (most int) {
	kept := 0
	for _, x := range b.blockers {
		if x.Reserved {
			kept++
			continue
		}
		most = max(most, b.inNameOf(x.Holder))
	}
	return most + kept
}

// inNameOf is how many nodes refused for that holder.
func (b *Ballot) inNameOf(holder string) (n int) {
	for _, x := range b.blockers {
		if !x.Reserved && x.Holder == holder {
			n++
		}
	}
	return n
}

// TurnedAway is the result of asking the gate alone and not being granted.
func (b *Ballot) TurnedAway() Result {
	if len(b.blockers) > 0 {
		res := b.Result(nil)
		res.Err = res.Blocker
		return res
	}
	res := b.Result(b.quorumError())
	res.GateFault = true
	return res
}

// Result is what the votes amount to; err is why collecting them was cut short.
func (b *Ballot) Result(err error) Result {
	res := Result{Err: err, FreeIn: -1, Ticket: b.ticket, Ahead: b.ahead, Open: b.open}
	if err == nil && b.Tally.Won() {
		return res
	}
	res.FreeIn = b.freeIn()
	if len(b.blockers) > 0 {
		res.Blocker = b.blocker(res.FreeIn)
		res.Foreign = b.foreign()
	}
	switch {
	case err != nil:
	case b.held():
		res.Err = res.Blocker
	default:
		res.Err = b.quorumError()
		res.Hopeless = b.hopeless()
		if b.hasOtherSlots() {
			res.Err, res.Hopeless = b.otherSlots(), true
		}
		res.Split = b.Tally.Refused > 0 && b.Tally.Granted+b.Tally.Refused >= Quorum(b.Tally.Nodes)
	}
	return res
}

// Sets are the nodes by how they voted.
func (b *Ballot) Sets() Sets {
	return Sets{Asked: b.Asked, Granted: b.Granted, Refused: b.Refused}
}

func (b *Ballot) quorumError() *lock.QuorumError {
	return b.Names.NoQuorum(b.Resource, lock.OpAcquire, b.Sets(), b.Failures)
}

// freeIn is when enough TTLs will have run out for a quorum, if nobody renews. A node
// that granted is free at once.
func (b *Ballot) freeIn() time.Duration {
	needed := Quorum(b.Tally.Nodes)
	if b.Asked&(b.Asked-1) == 0 { // one node was asked
		needed = 1
	}
	free := slices.Concat(make([]time.Duration, b.Tally.Granted), b.free)
	if len(free) < needed {
		return -1
	}
	slices.Sort(free)
	return free[needed-1]
}

// foreign reports that no node that refused says who holds the lock, or keeps it for a waiter.
func (b *Ballot) foreign() bool {
	return !slices.ContainsFunc(b.blockers, func(x driver.AcquireReply) bool { return x.Reserved || x.Holder != "" })
}

// blocker describes the holder that has most of the nodes that refused, among those with a
// holder record. Of two with as many nodes, the older one counts: the other is a vote that fails.
func (b *Ballot) blocker(freeIn time.Duration) *lock.HeldError {
	worst := slices.MaxFunc(b.blockers, func(x, y driver.AcquireReply) int {
		return cmp.Or(cmp.Compare(min(len(x.Holder), 1), min(len(y.Holder), 1)),
			cmp.Compare(b.inNameOf(x.Holder), b.inNameOf(y.Holder)), olderHolder(x.Holder, y.Holder),
			cmp.Compare(x.TTL, y.TTL))
	})
	e := &lock.HeldError{
		Resource: b.Resource, Key: b.Key,
		Refused: b.Tally.Refused, Nodes: b.Tally.Nodes, Granted: b.Tally.Granted, Named: b.inNameOf(worst.Holder),
		SlotsKnown: worst.Slots != 0, HandedOver: worst.Reserved, Remaining: worst.TTL, Errors: b.Failures.NodeErrors(),
	}
	switch {
	case freeIn == clock.Never:
		e.Remaining = -1
	case freeIn > 0:
		e.Remaining = freeIn
	}
	if holder, err := records.ParseHolder(worst.Holder); err == nil {
		e.Holder = holder
	}
	return e
}

// olderHolder is positive if x holds since before y, by their own clocks.
func olderHolder(x, y string) int {
	if x == y {
		return 0
	}
	one, err := records.ParseHolder(x)
	other, otherErr := records.ParseHolder(y)
	if err != nil || otherErr != nil {
		return 0
	}
	return other.Since.Compare(one.Since)
}

// hopeless reports that so many nodes failed for good, by configuration or
// quarantine, that no later attempt can win before somebody steps in.
func (b *Ballot) hopeless() bool {
	permanent := 0
	for _, err := range b.Failures {
		if driver.ClassOf(err).Permanent() {
			permanent++
		}
	}
	return Tally{Nodes: b.Tally.Nodes, Failed: permanent}.Lost()
}

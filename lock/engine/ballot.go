package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// ballot collects an attempt's votes and says what they mean. The attempt's mutex guards it.
type ballot struct {
	resource string
	key      string
	gate     int           // index of the node whose queue is joined
	names    nodeNames     // of the nodes
	timeout  time.Duration // of one call on a node
	tally    quorum.Tally
	answered int
	gateOnly bool            // the gate's vote is all that is wanted for now
	closed   bool            // later votes do not count
	asked    uint64          // set of nodes
	voted    uint64          // set of nodes
	granted  uint64          // set of nodes
	refused  uint64          // set of nodes
	free     []time.Duration // per node that answered: until its TTL has run out
	blockers []driver.AcquireReply
	failures failures
	ticket   int64
	ahead    int
}

// count takes one vote.
func (b *ballot) count(from int, reply driver.AcquireReply, err error) {
	if b.closed || b.voted&(1<<from) != 0 {
		return
	}
	b.voted |= 1 << from
	b.answered++
	switch {
	case err != nil:
		b.tally.Failed++
		b.fail(from, err)
	case reply.Granted:
		b.tally.Granted++
		b.granted |= 1 << from
	default:
		b.tally.Refused++
		b.refused |= 1 << from
		b.blockers = append(b.blockers, reply)
		if reply.TTL < 0 {
			b.free = append(b.free, clock.Never)
		} else {
			b.free = append(b.free, reply.TTL)
		}
		if from == b.gate {
			b.ticket, b.ahead = reply.Ticket, reply.Ahead
		}
	}
}

func (b *ballot) fail(from int, err error) {
	b.failures = append(b.failures, b.names.failure(from, lock.OpAcquire, err))
}

// timeOut counts every node that was asked and has not voted as failed, unless the vote
// is won without.
func (b *ballot) timeOut() {
	if b.enough() {
		return
	}
	for i := range b.names {
		if b.asked&^b.voted&(1<<i) != 0 {
			b.count(i, driver.AcquireReply{}, errSilent(b.timeout))
		}
	}
}

// enough reports that the missing votes can change neither who won nor the reason why nobody did.
func (b *ballot) enough() bool {
	t := b.tally
	switch {
	case b.gateOnly:
		return b.answered > 0
	case t.Won(), b.answered == t.Nodes:
		return true
	case !t.Lost():
		return false
	}
	missing, spare := t.Nodes-b.answered, t.Nodes-quorum.Of(t.Nodes)
	one := b.inOneName() + t.Failed
	switch {
	case t.Held(), t.Failed > spare:
		return true
	case one >= quorum.Of(t.Nodes):
		return t.Failed+missing <= spare
	}
	return one+missing < quorum.Of(t.Nodes) && t.Refused+missing <= spare
}

// held reports that another holder has the resource, or is about to. Either the refusals
// alone rule out a quorum, or one holder's refusals and the failed nodes could be its quorum.
// If so many nodes failed that nobody can win, the lock is not held: the nodes are at fault.
func (b *ballot) held() bool {
	t := b.tally
	if t.Held() {
		return true
	}
	return t.Refused > 0 && t.Failed <= t.Nodes-quorum.Of(t.Nodes) && b.inOneName()+t.Failed >= quorum.Of(t.Nodes)
}

// inOneName is the largest number of nodes that refused for the same holder. A node that keeps
// the lock for the next waiter names no holder, and counts for each.
func (b *ballot) inOneName() (most int) {
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
func (b *ballot) inNameOf(holder string) (n int) {
	for _, x := range b.blockers {
		if !x.Reserved && x.Holder == holder {
			n++
		}
	}
	return n
}

// turnedAway is the result of asking the gate alone and not being granted.
func (b *ballot) turnedAway() result {
	if len(b.blockers) > 0 {
		res := b.result(nil)
		res.err = res.blocker
		return res
	}
	res := b.result(b.quorumError())
	res.gateFault = true
	return res
}

// result is what the votes amount to; err is why collecting them was cut short.
func (b *ballot) result(err error) result {
	res := result{err: err, freeIn: -1, ticket: b.ticket, ahead: b.ahead}
	if err == nil && b.tally.Won() {
		return res
	}
	res.freeIn = b.freeIn()
	if len(b.blockers) > 0 {
		res.blocker = b.blocker(res.freeIn)
		res.foreign = b.foreign()
	}
	switch {
	case err != nil:
	case b.held():
		res.err = res.blocker
	default:
		res.err = b.quorumError()
		res.hopeless = b.hopeless()
		if b.hasOtherSlots() {
			res.err, res.hopeless = &otherSlotsError{b.quorumError()}, true
		}
		res.split = b.tally.Refused > 0 && b.tally.Granted+b.tally.Refused >= quorum.Of(b.tally.Nodes)
	}
	return res
}

func (b *ballot) sets() nodeSets {
	return nodeSets{asked: b.asked, granted: b.granted, refused: b.refused}
}

func (b *ballot) quorumError() *lock.QuorumError {
	return b.names.noQuorum(b.resource, lock.OpAcquire, b.sets(), b.failures)
}

// freeIn is when enough TTLs will have run out for a quorum, if nobody renews. A node
// that granted is free at once.
func (b *ballot) freeIn() time.Duration {
	needed := quorum.Of(b.tally.Nodes)
	if b.asked&(b.asked-1) == 0 { // one node was asked
		needed = 1
	}
	free := slices.Concat(make([]time.Duration, b.tally.Granted), b.free)
	if len(free) < needed {
		return -1
	}
	slices.Sort(free)
	return free[needed-1]
}

// foreign reports that no node that refused says who holds the lock, or keeps it for a waiter.
func (b *ballot) foreign() bool {
	return !slices.ContainsFunc(b.blockers, func(x driver.AcquireReply) bool { return x.Reserved || x.Holder != "" })
}

// blocker describes the holder that has most of the nodes that refused, among those with a
// holder record. Of two with as many nodes, the older one counts: the other is a vote that fails.
func (b *ballot) blocker(freeIn time.Duration) *lock.HeldError {
	worst := slices.MaxFunc(b.blockers, func(x, y driver.AcquireReply) int {
		return cmp.Or(cmp.Compare(min(len(x.Holder), 1), min(len(y.Holder), 1)),
			cmp.Compare(b.inNameOf(x.Holder), b.inNameOf(y.Holder)), olderHolder(x.Holder, y.Holder),
			cmp.Compare(x.TTL, y.TTL))
	})
	e := &lock.HeldError{
		Resource: b.resource, Key: b.key,
		Refused: b.tally.Refused, Nodes: b.tally.Nodes, Granted: b.tally.Granted, Named: b.inNameOf(worst.Holder),
		SlotsKnown: worst.Slots != 0, HandedOver: worst.Reserved, Remaining: worst.TTL, Errors: b.failures.nodeErrors(),
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
func (b *ballot) hopeless() bool {
	permanent := 0
	for _, err := range b.failures {
		if driver.ClassOf(err).Permanent() {
			permanent++
		}
	}
	return quorum.Tally{Nodes: b.tally.Nodes, Failed: permanent}.Lost()
}

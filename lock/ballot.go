package lock

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// ballot collects an attempt's votes and says what they mean.
type ballot struct {
	a        *attempt
	answered int
	free     []time.Duration // per node that answered: until its TTL has run out
	blockers []driver.AcquireReply
	errs     []*NodeError
	ticket   int64
	ahead    int
	voted    []bool
}

func newBallot(a *attempt) *ballot {
	return &ballot{a: a, voted: make([]bool, len(a.grants))}
}

// count takes one vote.
func (b *ballot) count(v vote) {
	if b.voted[v.from] { // it had been given up
		return
	}
	b.voted[v.from] = true
	b.answered++
	switch {
	case v.err != nil:
		b.a.tally.failed++
		b.fail(v.from, v.err)
	case v.reply.Granted:
		b.a.tally.granted++
		b.free = append(b.free, 0)
	default:
		b.a.tally.refused++
		b.blockers = append(b.blockers, v.reply)
		if v.reply.TTL < 0 {
			b.free = append(b.free, never)
		} else {
			b.free = append(b.free, v.reply.TTL)
		}
		if v.from == b.a.gate {
			b.ticket, b.ahead = v.reply.Ticket, v.reply.Ahead
		}
	}
}

func (b *ballot) fail(from int, err error) {
	b.errs = append(b.errs, &NodeError{Node: b.a.grants[from].Name(), Op: OpAcquire, Err: err})
}

// timeOut counts every node that was asked and has not voted as failed.
func (b *ballot) timeOut() {
	for i := range b.a.grants {
		asked := !b.a.start.GateFirst || b.a.asked > 1 || i == b.a.gate
		if asked && !b.voted[i] {
			b.voted[i] = true
			b.a.tally.failed++
			b.fail(i, driver.ErrTimeout)
		}
	}
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
	res := result{err: err, freeIn: b.freeIn(), ticket: b.ticket, ahead: b.ahead}
	if len(b.blockers) > 0 {
		res.blocker = b.blocker(res.freeIn)
	}
	switch t := b.a.tally; {
	case err != nil || t.won():
	case t.held():
		res.err = res.blocker
	default:
		res.err = b.quorumError()
		res.hopeless = b.hopeless()
		res.split = b.a.tally.refused > 0 && b.a.tally.granted+b.a.tally.refused >= b.a.engine.quorum
	}
	return res
}

func (b *ballot) quorumError() *QuorumError {
	e := b.a.quorumError(OpAcquire)
	e.Errors = b.errs
	return e
}

// freeIn is when enough TTLs will have run out for a quorum, if nobody renews.
func (b *ballot) freeIn() time.Duration {
	quorum := b.a.engine.quorum
	if b.a.start.GateFirst && b.a.asked == 1 {
		quorum = 1
	}
	if len(b.free) < quorum {
		return -1
	}
	slices.Sort(b.free)
	return b.free[quorum-1]
}

// blocker describes whoever refused longest among those that say who they are.
func (b *ballot) blocker(freeIn time.Duration) *HeldError {
	worst := slices.MaxFunc(b.blockers, func(x, y driver.AcquireReply) int {
		return cmp.Or(cmp.Compare(min(len(x.Holder), 1), min(len(y.Holder), 1)), cmp.Compare(x.TTL, y.TTL))
	})
	held := &HeldError{
		Resource: b.a.start.Resource, Key: b.a.key,
		Refused: b.a.tally.refused, Nodes: b.a.tally.nodes,
		HandedOver: worst.Reserved, Remaining: worst.TTL,
	}
	switch {
	case freeIn == never:
		held.Remaining = -1
	case freeIn > 0:
		held.Remaining = freeIn
	}
	if holder, err := ParseHolder(worst.Holder); err == nil {
		held.Holder = holder
	}
	return held
}

// hopeless reports that so many nodes failed for good, by configuration or
// quarantine, that no later attempt can win before somebody steps in.
func (b *ballot) hopeless() bool {
	permanent := 0
	for _, err := range b.errs {
		if driver.ClassOf(err).Permanent() {
			permanent++
		}
	}
	return tally{nodes: b.a.tally.nodes, failed: permanent}.lost()
}

package calls

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// waited is what a call has spent since it began, by class and holder. The call's mutex guards it.
type waited struct {
	stack *profile.Stack
	spent profile.Spent
	after profile.Holder // the last that was charged for this call's beginning to wait

	line   *ownedLine    // while it waits for its turn in this process; nil else
	joined profile.Spent // what the line had spent by then
}

// spendUntil charges the time until a wait begins.
//
// It takes the stack at a call's first wait and not at its return, when a call that never returns would have none. That
// costs about a microsecond, during the wait: engines call this hook in the goroutine of the call, once it is in line.
func (c *Call) spendUntil(now time.Time, e lock.WaitStart) {
	c.outOfLine(now) // it is in one only if the wait before has not ended
	w := c.startSpending(now, e)
	if e.Kind != lock.WaitLocal || e.Front == nil {
		c.ledger.look(c.ID, now)
		return
	}
	line, joined := c.ledger.join(c.ID(), c.owner, now, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	w.line, w.joined = line, joined
}

func (c *Call) startSpending(now time.Time, e lock.WaitStart) *waited {
	var stack *profile.Stack
	if !c.hasWaited() {
		stack = c.owner.Records.Profile.Stack()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited == nil {
		c.waited = &waited{stack: stack}
	}
	c.spend(now, c.clock.WaitStart(now, e))
	return c.waited
}

func (c *Call) hasWaited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waited != nil
}

// spendWait charges a wait that ends.
func (c *Call) spendWait(now time.Time) {
	if c.outOfLine(now) {
		return
	}
	c.mu.Lock()
	c.spend(now, c.clock.WaitEnd(now))
	c.mu.Unlock()
	c.ledger.look(c.ID, now)
}

// outOfLine ends a wait for a turn, and reports whether there was one.
func (c *Call) outOfLine(now time.Time) bool {
	c.mu.Lock()
	w := c.waited
	if w == nil || w.line == nil {
		c.mu.Unlock()
		return false
	}
	line, joined := w.line, w.joined
	c.mu.Unlock()
	spent := c.ledger.leave(line, joined, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.WaitEnd(now) // its time is that of the line
	w.spent.AddSince(spent, nil)
	w.line, w.joined = nil, nil
	return true
}

// spendRest charges and records a call that returns, if it has waited or was slow.
func (c *Call) spendRest(now time.Time, took time.Duration) {
	c.outOfLine(now)
	c.mu.Lock()
	last := c.clock.End(now)
	c.spend(now, last)
	w := c.waited
	c.waited = nil
	c.mu.Unlock()
	of := c.owner.Records.Profile
	if w == nil {
		w = &waited{stack: of.Stack()}
		w.spent.Add(profile.Cause{Class: c.classOf(last.Class)}, took)
	}
	of.Ended(profile.Wait{Stack: w.stack, Of: c.ID(), Took: took, Spent: w.spent})
}

// charge charges the time until now of a call that waits, unless its line does.
func (c *Call) charge(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited != nil && c.waited.line == nil {
		c.spend(now, c.clock.Take(now))
	}
}

// spend charges a stretch, to its holder too. mu must be held.
func (c *Call) spend(now time.Time, s decorate.Stretch) {
	w := c.waited
	if w == nil || s.Took <= 0 {
		return
	}
	cause := profile.CauseOf(s.Class, s.Blocker)
	w.spent.Add(cause, s.Took)
	if s.Class != lock.WaitBehindHolder {
		return
	}
	i := profile.Inflicted{
		Of: names.ID{Backend: c.backend, Resource: c.resource}, Holder: cause.Holder, Took: s.Took, Span: s.Took,
	}
	if i.Holder.Counts() && i.Holder != w.after {
		w.after, i.Waits = i.Holder, 1
	}
	c.owner.Records.Profile.Inflict(now, i)
}

// classOf is the class of a call without a wait: what a Locker without hooks waits for is not known.
func (c *Call) classOf(class lock.WaitClass) lock.WaitClass {
	if !c.Hooked() {
		return profile.Unknown
	}
	return class
}

// underWay adds the waits of a shard's unfinished calls until now.
func underWay(s *shard[*Lease], now time.Time, all []profile.Wait) []profile.Wait {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.lookAll(now)
	for e := s.waiting.first; e != nil; e = e.after {
		m := e.of
		m.charge(now)
		if w := m.soFar(now); w.Spent != nil {
			all = append(all, w)
		}
	}
	return all
}

// soFar is the wait of an unfinished call, without Spent if it has just begun. The mutex of the ledger must be held.
func (c *Call) soFar(now time.Time) profile.Wait {
	class, _ := c.clock.Class()
	c.mu.Lock()
	defer c.mu.Unlock()
	soFar := profile.Wait{
		Of: names.ID{Backend: c.backend, Resource: c.resource}, Took: max(now.Sub(c.began), 0),
		CallSite: c.from().CallSite,
	}
	switch w := c.waited; {
	case w != nil:
		soFar.Stack, soFar.Spent = w.stack, slices.Clone(w.spent)
		if w.line != nil {
			soFar.Spent.AddSince(w.line.Spent(), w.joined)
		}
	case soFar.Took >= unhindered:
		soFar.Spent.Add(profile.Cause{Class: c.classOf(class)}, soFar.Took)
	}
	return soFar
}

package calls

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// waited is what a call has spent since it began, by class and holder. The call's mutex guards it.
type waited struct {
	stack *profile.Stack // nil if it is to be taken when the call returns
	spent profile.Spent
	few   [3]profile.Stretch // of spent, as a rule
	after profile.Holder     // the last that was charged for this call's beginning to wait

	line   *line         // while it waits for its turn in this process; nil else
	joined profile.Spent // what the line had spent by then
}

// spendUntil charges the time until a wait begins. Both mutexes must be held.
func (c *Call) spendUntil(now time.Time, e locktrace.WaitStart, stack *profile.Stack) {
	if c.origin.StandsBy() {
		c.clock.WaitStart(now, e)
		return
	}
	w := c.waited
	if w == nil {
		w = new(waited)
		c.waited, w.spent = w, w.few[:0]
	}
	if stack != nil {
		w.stack = stack
	}
	c.leaveLine(now) // it is in one only if the wait before has not ended
	lines, id := &c.shard.lines, c.id()
	if e.Kind == locktrace.WaitLocal && e.Front != nil {
		c.spend(now, c.clock.WaitInLine(now, e))
		w.line = lines.find(id, c.Owner)
		w.line.Join(now, e.Front)
		w.joined = slices.Clone(w.line.spent)
	} else {
		c.spend(now, c.clock.WaitStart(now, e))
		lines.look(id, now)
	}
}

// lockBoth locks the shard and the call.
func (c *Call) lockBoth() {
	c.shard.mu.Lock()
	c.mu.Lock()
}

func (c *Call) unlockBoth() {
	c.mu.Unlock()
	c.shard.mu.Unlock()
}

// takeStack returns the stack of a wait that begins, unless the call has one.
//
// It is not left for the return of the call, when a call that never returns would have none: in a total outage, that is
// every one. Engines call the hook in the goroutine of the call, and when it is in line already. The stack still costs
// more than a microsecond, so it is left for the return where the resource was waited for shortly before, and not long.
func (c *Call) takeStack(now time.Time) *profile.Stack {
	of, s := c.Owner.Records.Profile, c.shard
	c.lockBoth()
	known := c.waited != nil && c.waited.stack != nil || c.origin.StandsBy() ||
		!of.Long(now.Sub(c.Began)) && s.short == c.id() && now.Sub(s.shortAt) < recently
	c.unlockBoth()
	if known {
		return nil
	}
	return of.Stack()
}

// recently is how long a wait says something about the next one.
const recently = 10 * time.Millisecond

// spendWait charges a wait that ends. Both mutexes must be held.
func (c *Call) spendWait(now time.Time) {
	if !c.leaveLine(now) {
		c.spend(now, c.clock.WaitEnd(now))
		c.shard.lines.look(c.id(), now)
	}
}

// leaveLine ends a wait for a turn, and reports whether there was one. Both mutexes must be held.
func (c *Call) leaveLine(now time.Time) bool {
	w := c.waited
	if w == nil || w.line == nil {
		return false
	}
	w.line.Leave(now)
	w.spent.AddSince(w.line.spent, w.joined)
	c.clock.WaitEnd(now)
	c.shard.lines.drop(w.line)
	w.line, w.joined = nil, nil
	return true
}

// spendRest charges and records a call that returns, if it has waited or was slow.
func (c *Call) spendRest(now time.Time, took time.Duration) {
	w := c.endSpending(now, took)
	c.Owner.Records.Profile.Ended(profile.Wait{Stack: w.stack, Of: c.ID(), Took: took, Spent: w.spent})
}

func (c *Call) endSpending(now time.Time, took time.Duration) *waited {
	c.lockBoth()
	defer c.unlockBoth()
	c.leaveLine(now)
	last := c.clock.End(now)
	c.spend(now, last)
	if !c.Owner.Records.Profile.Long(took) {
		c.shard.short, c.shard.shortAt = c.id(), now
	}
	w := c.waited
	if c.waited = nil; w == nil {
		w = new(waited)
		w.spent.Add(profile.Stretch{Class: c.classOf(last.Class), Took: took})
	}
	return w
}

// abandon ends a call that does not return.
func (c *Call) abandon() {
	c.lockBoth()
	defer c.unlockBoth()
	c.leaveLine(time.Now())
	c.Owner.Records.Slowest.Forget(c.trail.End(false))
}

// charge charges the time until now of a call that waits, unless its line does.
func (c *Call) charge(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited != nil {
		c.spend(now, c.clock.Take(now))
	}
}

// spend charges a stretch, to its holder too. mu must be held.
func (c *Call) spend(now time.Time, s decorate.Stretch) {
	w := c.waited
	if w == nil || s.Took <= 0 {
		return
	}
	by := profile.HolderOf(s.Class, s.Blocker)
	w.spent.Add(profile.Stretch{Class: s.Class, Instance: by.Instance, Took: s.Took})
	if s.Class != locktrace.WaitHolder {
		return
	}
	added := decorate.LineStretch{Stretch: s, Until: now, Span: s.Took}
	if by.Counts() && by != w.after {
		w.after, added.Waits = by, 1
	}
	c.Owner.Records.Profile.Inflict(c.id(), by, added)
}

// classOf is the class of a call without a wait: what a Locker without hooks waits for is not known.
func (c *Call) classOf(class locktrace.Wait) locktrace.Wait {
	if !c.Hooked() {
		return profile.Unknown
	}
	return class
}

// soFar is the wait of an unfinished call, without Spent if it has just begun. The shard's mutex must be held.
func (c *Call) soFar(now time.Time) profile.Wait {
	class, _ := c.clock.Class()
	c.mu.Lock()
	defer c.mu.Unlock()
	soFar := profile.Wait{
		Of: c.id(), Took: max(now.Sub(c.Began), 0), CallSite: c.from().CallSite,
	}
	switch w := c.waited; {
	case w != nil:
		soFar.Stack, soFar.Spent = w.stack, slices.Clone(w.spent)
		if w.line != nil {
			soFar.Spent.AddSince(w.line.spent, w.joined)
		}
	case soFar.Took >= unhindered && !c.origin.StandsBy():
		soFar.Spent.Add(profile.Stretch{Class: c.classOf(class), Took: soFar.Took})
	}
	return soFar
}

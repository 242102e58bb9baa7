package spans

import (
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// firstAttempts is how many attempts of a call have all their spans. Of the later ones, a command or a wait gets a span
// only if it says something else than the one before: a wait of minutes makes hundreds of attempts.
const firstAttempts = 10

// isLate reports whether an attempt comes after the first ones.
func (c *Call) isLate(attempt int) bool { return c != nil && attempt > firstAttempts }

// answerOf is a command that is sent in each attempt.
type answerOf struct {
	node string
	op   lock.Operation
}

// answered keeps the answer to a command, and reports whether it is another one than before.
func (c *Call) answered(e locktrace.NodeEnd) (news bool) {
	if c == nil || c.span == nil || e.Attempt < firstAttempts {
		return true
	}
	answer := string(e.Verdict)
	if e.Err != nil {
		answer = outcome.OfNode(e.Err).String()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := answerOf{e.Node, e.Op}
	if c.answers[of] == answer {
		return false
	}
	if c.answers == nil {
		c.answers = make(map[answerOf]string)
	}
	c.answers[of] = answer
	return true
}

// waitReason is what a call waits for.
type waitReason struct {
	kind   locktrace.Wait
	class  locktrace.Wait
	holder string
}

// waits keeps what the call waits for, and reports whether it is something else than before.
func (c *Call) waits(e locktrace.WaitStart) (news bool) {
	now := waitReason{kind: e.Kind, class: e.Class()}
	if e.Blocker != nil {
		now.holder = e.Blocker.Holder.Instance
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	news, c.wait = c.wait != now, now
	return news
}

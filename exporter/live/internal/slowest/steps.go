package slowest

import (
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// The kinds of Step.
const (
	KindAttempt = "attempt"
	KindNode    = "node"
	KindWait    = "wait"
)

// Step is a state.Step without its texts, which only the slowest calls need.
type Step struct {
	Kind    string
	Name    string
	Outcome lock.Verdict
	Op      lock.Operation // of a node
	Class   locktrace.Wait // of a wait
	Attempt int
	Start   time.Duration
	Took    time.Duration
	Err     error
	Blocker *lock.HeldError
}

// told makes the texts of a step.
func (s *Step) told() state.Step {
	t := state.Step{
		Kind: s.Kind, Name: text.Name(s.Name), Attempt: s.Attempt,
		Start: s.Start.Seconds(), Took: s.Took.Seconds(), Outcome: string(s.Outcome),
	}
	switch {
	case s.Kind == KindAttempt:
		t.Name = "attempt " + strconv.Itoa(s.Attempt)
	case s.Op == lock.OpRaise:
		t.Detail = "raises the fencing token"
	}
	if s.Blocker != nil {
		t.Detail = text.Holder(s.Blocker)
	} else if s.Err != nil {
		t.Detail = s.detail()
	}
	return t
}

// detail is why a step failed. For an attempt without a quorum it is what the nodes did, in short, because they are
// steps of their own.
func (s *Step) detail() string {
	if votes := text.Votes(s.Err); votes != "" && s.Kind == KindAttempt {
		return votes
	}
	return text.Detail(s.Err)
}

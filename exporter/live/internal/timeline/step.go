package timeline

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Step is an attempt, a vote or a wait, without its texts, which only the slowest calls and the timelines need.
type Step struct {
	Kind    Kind
	Name    string
	Outcome lock.Verdict
	Op      lock.Operation // of a node
	Class   locktrace.Wait // of a wait
	Attempt int
	Start   time.Duration // since the call began
	Took    time.Duration
	Err     error
	Blocker *lock.HeldError
}

// KindAttempt is an attempt in a State.
const KindAttempt = "attempt"

var kinds = map[Kind]string{Attempt: KindAttempt, Vote: "node", Wait: "wait"}

// told makes the texts of a step.
func (s *Step) told() state.Step {
	t := state.Step{
		Kind: kinds[s.Kind], Name: text.Name(s.Name), Attempt: s.Attempt,
		Start: s.Start.Seconds(), Took: s.Took.Seconds(), Outcome: string(s.Outcome),
	}
	switch {
	case s.Kind == Attempt:
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
	if votes := text.Votes(s.Err); votes != "" && s.Kind == Attempt {
		return votes
	}
	return text.Detail(s.Err)
}

// Trail is the steps of a call so far. The call guards it. Its zero value is empty.
type Trail struct {
	steps *buffer // nil until the first step, and once the call is over
	over  bool
	kept  *kept // where stragglers go; nil unless the call is among the slowest
}

// End takes the steps away from the hooks. If they are wanted, late steps go to the record, which is locked until it
// is filled.
func (t *Trail) End(wanted bool) (ended Trail) {
	t.over = true
	if wanted {
		t.kept = new(kept)
		t.kept.mu.Lock()
	}
	ended, t.steps = *t, nil
	return ended
}

// Over reports whether the call is.
func (t *Trail) Over() bool { return t.over }

// Steps returns the steps, in no order, and how many are omitted.
func (t *Trail) Steps() (steps []Step, omitted int) {
	if t.steps == nil {
		return nil, 0
	}
	return t.steps.steps, t.steps.omitted
}

// Copy returns a trail of the steps so far.
func (t *Trail) Copy() Trail {
	steps, omitted := t.Steps()
	return Trail{steps: &buffer{steps: slices.Clone(steps), omitted: omitted}}
}

// buffer holds the steps of one call. It grows to state.MaxSteps if needed, and is reused.
type buffer struct {
	steps   []Step
	latest  int // where the next one goes, once the buffer is full
	omitted int
}

func (b *buffer) add(s Step) {
	if len(b.steps) < state.MaxSteps {
		b.steps = append(b.steps, s)
		return
	}
	const first = state.MaxSteps / 2
	b.steps[first+b.latest] = s
	b.latest = (b.latest + 1) % (state.MaxSteps - first)
	b.omitted++
}

// clear prepares a buffer for another call.
func (b *buffer) clear() {
	clear(b.steps) // errors and names
	*b = buffer{steps: b.steps[:0]}
}

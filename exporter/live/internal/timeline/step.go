package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Kind is the kind of an Event.
type Kind uint8

// The kinds of Event.
const (
	Call    Kind = iota // an Acquire; Outcome is acquired or the reason of its failure
	Attempt             // a round of voting; Outcome is its verdict
	Vote                // a command on the node Name; What is the operation, Outcome the verdict
	Wait                // a wait of the kind Name; What is its class, Outcome what ended it
	Lease               // from the grant to its end here; Outcome is how it ended
	Renewal             // a round of renewal; Outcome is its locktrace.RenewOutcome
)

// Outcomes of calls and leases. Other outcomes are a lock.Reason.
const (
	Acquired = "acquired"
	Released = "released"
	Lost     = "lost"
	MaxHold  = "max hold"
)

// What ended a wait that did not fail: somebody or its time limit.
const (
	Woken      = "woken"       // a release that named this waiter, or the caller before it
	HandedOver = "handed_over" // the caller before it in this process handed it the lock
	Elapsed    = "timeout"     // nobody woke it for as long as it meant to wait
)

// Event is something that happened to a resource.
type Event struct {
	Start, End time.Duration // since the Base of the Recorder
	Of         *Caller
	By         *Holder // of a wait or an attempt: who had the resource; nil if that is unknown
	Fence      uint64
	Name       string
	What       string
	Outcome    string
	Detail     string // why it failed
	Attempt    int32  // of a Call: steps that were not kept, because it has so many
	Kind       Kind
	Open       bool // it has not ended: End is the time of the look
}

// Caller made a call. All events of a call and its lease have the same one.
type Caller struct {
	Instance string
	CallSite string // "" if unknown
	Trace    trace.TraceID
}

// Holder is a holder that refusals named.
type Holder struct {
	Instance, CallSite, Trace string
	Since                     time.Duration // start of its attempt on its own clock, as an offset from the Base
	Known                     bool          // Since is known
	Here                      bool          // it is a locker of this Board
}

// is reports whether a refusal names that holder.
//
// Leases of this Board have events of their own, so their start does not matter here.
func (h *Holder) is(held *lock.HeldError, since time.Duration) bool {
	return h != nil && h.Instance == held.Holder.Instance &&
		(h.Here || h.Since == since && h.Known != held.Holder.Since.IsZero())
}

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

// kinds are those of steps in a State.
var kinds = [...]string{Attempt: KindAttempt, Vote: "node", Wait: "wait"}

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
	switch {
	case s.Blocker != nil:
		t.Detail = text.Holder(s.Blocker)
	case s.Err != nil && s.Kind == Attempt:
		t.Detail = cmp.Or(text.Votes(s.Err), text.Detail(s.Err)) // nodes that failed are steps of their own
	case s.Err != nil:
		t.Detail = text.Detail(s.Err)
	}
	return t
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

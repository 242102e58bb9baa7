package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// MaxSteps is how many steps an Acquisition has: the first half as they came, then
// the latest.
const MaxSteps = 60

// The kinds of Step.
const (
	stepAttempt = kindAttempt
	stepNode    = "node"
	stepWait    = "wait"
)

// Outcomes of waits that end with another attempt, or with the lock.
const (
	waitWoken   lock.Verdict = "woken"       // by a release that named this waiter, or by the caller before it
	waitHanded  lock.Verdict = "handed_over" // the caller before it in this process handed it the lock
	waitTimeout lock.Verdict = "timeout"     // nobody woke it for as long as it meant to wait
)

// step is a Step before its texts are made, which only the slowest need.
type step struct {
	kind    string
	name    string
	outcome lock.Verdict
	raise   bool
	attempt int
	start   time.Duration
	took    time.Duration
	err     error
	blocker *lock.HeldError
}

// buffer holds the steps of one call. It grows to MaxSteps where a call makes that
// many, and is used again.
type buffer struct {
	steps   []step
	latest  int // where the next one goes, once the buffer is full
	omitted int
}

func (b *buffer) add(s step) {
	if len(b.steps) < MaxSteps {
		b.steps = append(b.steps, s)
		return
	}
	const first = MaxSteps / 2
	b.steps[first+b.latest] = s
	b.latest = (b.latest + 1) % (MaxSteps - first)
	b.omitted++
}

// recycle keeps a buffer for another call; nothing if there is none.
func (b *Board) recycle(steps *buffer) {
	if steps == nil {
		return
	}
	clear(steps.steps) // errors and names
	*steps = buffer{steps: steps.steps[:0]}
	b.buffers.Put(steps)
}

// told makes the texts of a step.
func (s *step) told() Step {
	t := Step{
		Kind: s.kind, Name: clip(s.name, maxName), Attempt: s.attempt,
		Start: s.start.Seconds(), Took: s.took.Seconds(), Outcome: string(s.outcome),
	}
	switch {
	case s.kind == stepAttempt:
		t.Name = attemptName(s.attempt)
	case s.raise:
		t.Detail = "raises the fencing token"
	}
	if s.blocker != nil {
		t.Detail = holderText(s.blocker)
	} else if s.err != nil {
		t.Detail = s.detail()
	}
	return t
}

// detail is why a step failed. Of an attempt without a quorum it is the count: its
// nodes are steps of their own, which tell the rest.
func (s *step) detail() string {
	if e, ok := errors.AsType[*lock.QuorumError](s.err); ok && s.kind == stepAttempt {
		return fmt.Sprintf("%d of %d nodes agreed, %d needed", e.Granted, e.Nodes, e.Quorum)
	}
	return errorText(s.err, maxDetail)
}

// kept is one of the slowest acquisitions. Stragglers add to it until it is dropped.
type kept struct {
	ended   time.Time
	took    time.Duration
	trace   trace.TraceID
	backend string

	mu      sync.Mutex
	told    Acquisition
	dropped bool
}

// fill makes the record of a call that has ended. mu is held, and is unlocked.
func (k *kept) fill(c *call, steps *buffer, now time.Time, took time.Duration, err error) {
	defer contain()
	defer k.mu.Unlock()
	k.ended, k.took = now, took
	k.told = Acquisition{
		Resource: clip(c.resource, maxResource), Backend: clip(k.backend, maxName), At: c.began.Round(0).UTC(), Took: took.Seconds(),
		Outcome: outcomeAcquired, TraceID: traceText(k.trace), Steps: []Step{},
	}
	if err != nil {
		k.told.Outcome = string(lock.ReasonOf(err))
		k.told.Error = errorText(err, maxError)
	}
	if steps == nil {
		return
	}
	k.told.Omitted = steps.omitted
	k.told.Steps = make([]Step, 0, len(steps.steps)+spareSteps)
	for i := range steps.steps {
		k.told.Steps = append(k.told.Steps, steps.steps[i].told())
	}
}

// spareSteps leaves room for stragglers without another allocation.
const spareSteps = 2

// addLate adds a step that ended after its acquisition.
func (k *kept) addLate(s step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.dropped:
	case len(k.told.Steps) >= MaxSteps:
		k.told.Omitted++
	default:
		k.told.Steps = append(k.told.Steps, s.told())
	}
}

// drop gives up the steps: whoever holds the lease still has the record.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told, k.dropped = Acquisition{}, true
}

func (k *kept) acquisition() Acquisition {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.told
	a.Steps = slices.Clone(a.Steps)
	slices.SortStableFunc(a.Steps, func(x, y Step) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(rank(x.Kind), rank(y.Kind)))
	})
	return a
}

// rank puts an attempt before the node calls that begin with it.
func rank(kind string) int {
	if kind == stepNode {
		return 1
	}
	return 0
}

package slowest

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// outcomeAcquired is the outcome of a successful Acquisition.
const outcomeAcquired = "acquired"

// kept is one of the slowest acquisitions. It takes late steps until it is dropped.
type kept struct {
	ended time.Time
	took  time.Duration

	mu      sync.Mutex
	told    state.Acquisition
	dropped bool
}

// Call is a call that has ended.
type Call struct {
	Resource, Backend string
	Trace             trace.TraceID
	Began, Ended      time.Time
	Err               error // nil if it acquired the lock
}

// fill makes the record of a call that has ended. mu is held, and is unlocked.
func (k *kept) fill(c Call, steps *buffer) {
	defer text.Contain()
	defer k.mu.Unlock()
	k.ended, k.took = c.Ended, c.Ended.Sub(c.Began)
	k.told = state.Acquisition{
		Resource: text.Resource(c.Resource), Backend: text.Name(c.Backend),
		At: c.Began.Round(0).UTC(), Took: k.took.Seconds(),
		Outcome: outcomeAcquired, TraceID: text.TraceID(c.Trace), Steps: []state.Step{},
	}
	if c.Err != nil {
		k.told.Outcome = string(lock.ReasonOf(c.Err))
		k.told.Error = text.Error(c.Err)
	}
	if steps == nil {
		return
	}
	k.told.Omitted = steps.omitted
	k.told.Steps = make([]state.Step, 0, len(steps.steps)+spareSteps)
	for i := range steps.steps {
		k.told.Steps = append(k.told.Steps, steps.steps[i].told())
	}
}

// spareSteps leaves room for late steps without another allocation.
const spareSteps = 2

// addLate adds a step that ended after its acquisition.
func (k *kept) addLate(s Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.dropped:
	case len(k.told.Steps) >= state.MaxSteps:
		k.told.Omitted++
	default:
		k.told.Steps = append(k.told.Steps, s.told())
	}
}

// drop drops the steps. The holder of the lease still refers to the record.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told, k.dropped = state.Acquisition{}, true
}

func (k *kept) acquisition() state.Acquisition {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.told
	a.Steps = slices.Clone(a.Steps)
	slices.SortStableFunc(a.Steps, func(x, y state.Step) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(rank(x.Kind), rank(y.Kind)))
	})
	return a
}

// rank puts an attempt before the node calls that begin with it.
func rank(kind string) int {
	if kind == KindNode {
		return 1
	}
	return 0
}

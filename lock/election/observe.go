package election

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// DefaultInterval is how often an observer asks the nodes; see [Interval].
const DefaultInterval = time.Second

// Peeker says who holds a resource without asking for it. An engine.Engine does, if its driver supports that.
type Peeker interface {
	Peek(ctx context.Context, resource string) (lock.Sighting, error)
}

// Observation is what an observer saw of an election. It is a hint: the leader may have lost the term since, and an
// election that was seen vacant may have a leader by now.
type Observation struct {
	// Vacant is true if no leader was seen on a quorum of nodes. Leader and NotAfter are zero then.
	Vacant bool
	// Leader describes the process that leads.
	Leader lock.Holder
	// Term is a lower bound of the number of the leader's term, and normally that number; see [lock.Sighting]. If
	// Vacant, it is the highest that was seen; later terms have higher numbers. It is 0 if none was seen, and if the
	// nodes keep no counters.
	Term uint64
	// SeenAt is when the nodes were asked, by this process's clock.
	SeenAt time.Time
	// NotAfter is when the term has ended unless its leader renewed it after SeenAt. It is zero if the leader's lock
	// never expires by itself.
	NotAfter time.Time
}

// ErrEarlierTerm means that the nodes described a term before one that the observer had already seen: their answer was
// out of date, or they have lost their counters.
var ErrEarlierTerm = errors.New("election: the nodes describe an earlier term")

// ObserveOption configures Observe.
type ObserveOption func(*observer)

// Interval sets how long Observe waits between an answer and its next question, instead of [DefaultInterval]. Each wait
// is between three and five quarters of it, at random. It must be positive.
func Interval(d time.Duration) ObserveOption { return func(o *observer) { o.interval = d } }

// Observe asks the nodes who leads, at once and then at an interval until ctx ends or the loop breaks, and yields each
// answer. It takes part in no election, and changes nothing on the nodes. Nobody has to campaign.
//
//   - The error is nil: a quorum of nodes described the leader, or no leader has a quorum; see [Observation].
//   - Otherwise Observe cannot tell whether there is a leader. The observation is that of the last answer, and the
//     error names the nodes. Observe goes on asking, unless no later answer can be better: errors.ErrUnsupported,
//     lock.ErrClosed and those of bad input are the last that it yields.
//
// Terms never go down: an answer about an earlier term is the error [ErrEarlierTerm]. One call is under way at a time,
// and none while the body of the loop runs. Each range over the result starts anew; several may run at once.
func Observe(ctx context.Context, peeker Peeker, name string, opts ...ObserveOption) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) {
		o := observer{peeker: peeker, name: name, interval: DefaultInterval}
		for _, opt := range opts {
			if opt != nil {
				opt(&o)
			}
		}
		if err := o.validate(); err != nil {
			yield(Observation{}, err)
			return
		}
		for ctx.Err() == nil {
			seen, err := o.look(ctx)
			if ctx.Err() != nil || !yield(seen, err) || isFinal(err) || !o.pause(ctx) {
				return
			}
		}
	}
}

// observer is one range over Observe.
type observer struct {
	peeker   Peeker
	name     string
	interval time.Duration

	last Observation
}

func (o *observer) validate() error {
	switch {
	case o.peeker == nil:
		return fmt.Errorf("%w: election %q: the Peeker must not be nil", lock.ErrInvalidOption, o.name)
	case o.interval <= 0:
		return fmt.Errorf("%w: election %q: an interval of %v: use a positive one", lock.ErrInvalidOption, o.name,
			o.interval)
	}
	return lock.ValidateResource(o.name)
}

// look asks once.
func (o *observer) look(ctx context.Context) (Observation, error) {
	s, err := o.peeker.Peek(ctx, o.name)
	if err != nil {
		return o.last, err
	}
	seen := Observation{Vacant: !s.Held, Leader: s.Holder, Term: s.Fence, SeenAt: s.SeenAt, NotAfter: s.NotAfter}
	if seen.Vacant || seen.Term == 0 || seen.Leader == o.last.Leader && seen.Leader != (lock.Holder{}) {
		seen.Term = max(seen.Term, o.last.Term) // unknown, or both are lower bounds of the same term
	}
	if seen.Term < o.last.Term {
		return o.last, fmt.Errorf("%w: %q: term %d of %s after term %d: wait for the next term", ErrEarlierTerm, o.name,
			seen.Term, s.Holder.Instance, o.last.Term)
	}
	o.last = seen
	return seen, nil
}

// isFinal reports that asking again is useless.
func isFinal(err error) bool {
	for _, target := range []error{errors.ErrUnsupported, lock.ErrClosed, lock.ErrInvalidResource} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// pause reports whether to ask again.
func (o *observer) pause(ctx context.Context) bool {
	timer := time.NewTimer(o.interval*3/4 + rand.N(max(o.interval/2, 1)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

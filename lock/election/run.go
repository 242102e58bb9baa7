package election

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// pauses between campaigns that fail for want of a quorum.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Run campaigns for the leadership of name and calls lead for each term that it wins, until lead returns from a term that
// was not lost, or ctx ends.
//
// lead's context is the term's: it ends when the term is lost, and when ctx ends. Return soon then. The leadership is
// renewed until lead returns, so that an orderly shutdown never has two leaders, and then given up.
//
//   - lead returns while the term is valid: Run resigns, and returns lead's error joined with that of the resignation.
//   - lead calls [Term.Resign]: Run returns lead's error alone, also with [Once].
//   - The term is lost: Run waits for lead to return and campaigns again, behind the candidates that already wait.
//     With [Once] it returns the cause, such as lock.ErrLost, joined with lead's error.
//   - ctx ends: Run waits for lead, resigns, and returns the cause of ctx's end joined with what lead and the
//     resignation returned, unless lead returned that cause.
//   - A campaign finds no quorum: Run campaigns again after a pause of up to 5 seconds; see [Failed]. Other errors of
//     a campaign end Run, such as lock.ErrClosed and those of bad input.
//
// If lead panics, Run resigns and panics.
func Run(ctx context.Context, locker lock.Locker, name string, lead func(context.Context, Term) error,
	opts ...Option,
) error {
	if locker == nil || lead == nil {
		return fmt.Errorf("%w: election %q: the Locker and the function that leads must not be nil",
			lock.ErrInvalidOption, name)
	}
	r := runner{locker: locker, name: name, lead: lead, config: newConfig(opts)}
	for {
		again, err := r.term(ctx)
		if !again {
			return err
		}
	}
}

// runner is one Run.
type runner struct {
	config
	locker lock.Locker
	name   string
	lead   func(context.Context, Term) error
	failed int // campaigns in a row without a quorum
}

// term campaigns, and leads for one term. again says that there should be another.
func (r *runner) term(ctx context.Context) (again bool, err error) {
	aside, cancel := context.WithCancel(ctx)
	s := &standby{ctx: aside, fn: r.standby}
	defer s.work.Wait()
	defer cancel()
	candidate := ctx
	if r.standby != nil {
		candidate = locktrace.With(ctx, &locktrace.Trace{WaitStart: s.hear})
	}
	term, err := campaign(candidate, r.locker, r.name, r.acquire)
	if err != nil {
		return r.pause(ctx, err)
	}
	defer context.AfterFunc(term.ctx, cancel)()
	r.failed = 0
	return r.serve(ctx, term)
}

// serve leads, and gives the leadership up.
func (r *runner) serve(ctx context.Context, term Term) (again bool, err error) {
	defer func() {
		lost := term.ended()
		resigned := term.Resign(context.WithoutCancel(ctx))
		switch {
		case errors.Is(lost, lock.ErrReleased): // lead has resigned, and knows the result
		case lost == nil:
			err = errors.Join(err, resigned)
		case ctx.Err() == nil && !r.once && !errors.Is(lost, lock.ErrClosed):
			again, err = true, nil
		case !errors.Is(err, lost):
			err = errors.Join(err, lost)
		}
		if ended := context.Cause(ctx); ended != nil && !errors.Is(err, ended) {
			err = errors.Join(err, ended)
		}
	}()
	return false, r.lead(term.ctx, term)
}

// pause waits before the next campaign, if one can help.
func (r *runner) pause(ctx context.Context, failure error) (again bool, err error) {
	if lock.ReasonOf(failure) != lock.ReasonNoQuorum || ctx.Err() != nil {
		return false, failure
	}
	if r.config.failed != nil {
		r.config.failed(failure)
	}
	d := min(firstPause<<min(r.failed, 10), maxPause)
	r.failed++
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, errors.Join(context.Cause(ctx), failure)
	}
}

package bench

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/pause"
	"github.com/lockscope/lockscope/lock"
)

const (
	// releaseTimeout bounds how long a release waits for answers.
	releaseTimeout = 5 * time.Second
	// failurePause keeps a caller whose calls fail at once from doing nothing else.
	failurePause = 10 * time.Millisecond
)

// caller acquires and releases a lock once, and returns the time that counts.
type caller func(ctx context.Context) (time.Duration, error)

// sample is what some callers measured.
type sample struct {
	ran    time.Duration
	took   []time.Duration // of the calls that succeeded, in ascending order
	failed int
	err    error // of one that failed
	cut    error // of one that the end of the time cut short
}

// take lets all callers work until the time is up. Calls that are under way then do not count.
func take(ctx context.Context, d time.Duration, callers []caller) sample {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	began := time.Now()
	parts := make([]sample, len(callers))
	var all sync.WaitGroup
	for i, call := range callers {
		all.Go(func() { parts[i].repeat(ctx, call) })
	}
	all.Wait()
	s := sample{ran: min(time.Since(began), d)}
	for _, p := range parts {
		s.took, s.failed = append(s.took, p.took...), s.failed+p.failed
		s.err, s.cut = cmp.Or(s.err, p.err), cmp.Or(s.cut, p.cut)
	}
	slices.Sort(s.took)
	return s
}

func (s *sample) repeat(ctx context.Context, call caller) {
	for ctx.Err() == nil {
		took, err := call(ctx)
		switch {
		case ctx.Err() != nil:
			s.cut = err
		case err != nil:
			s.failed, s.err = s.failed+1, err
			pause.For(ctx, failurePause)
		default:
			s.took = append(s.took, took)
		}
	}
}

// rate is the number of calls a second.
func (s sample) rate() float64 {
	if s.ran <= 0 {
		return 0
	}
	return float64(len(s.took)) / s.ran.Seconds()
}

// quantile is the time within which so many in a hundred calls were done; 0 without any.
func (s sample) quantile(percent int) time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	return s.took[(len(s.took)-1)*percent/100]
}

// pair times an acquire and its release.
func pair(l lock.Locker, name string, ttl time.Duration) caller {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		lease, err := l.Acquire(ctx, name, lock.TTL(ttl))
		if err != nil {
			return 0, err
		}
		err = release(ctx, lease)
		return time.Since(began), err
	}
}

// handOff times the wait for a lock that other callers take in turn.
func handOff(l lock.Locker, name string, ttl time.Duration) caller {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		lease, err := l.Acquire(ctx, name, lock.TTL(ttl))
		if err != nil {
			return 0, err
		}
		waited := time.Since(began)
		return waited, release(ctx, lease)
	}
}

// release also works when ctx has ended.
func release(ctx context.Context, l lock.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return l.Release(ctx)
}

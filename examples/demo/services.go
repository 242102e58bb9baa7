package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// releaseTimeout bounds how long a service waits to hear of its release.
const releaseTimeout = time.Second

// service is one process of a profile: its own lock on its own connections.
type service struct {
	profile
	locker *process
	ledger *ledger
	seed   uint64
}

// run works until ctx ends. Its error is one the lock should not have given.
func (s *service) run(ctx context.Context) error {
	errs := make([]error, s.workers)
	var wg sync.WaitGroup
	for i := range s.workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(s.seed, uint64(i)))
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = s.work(ctx, s.pick(random), random)
				sleep(ctx, time.Duration(random.Int64N(int64(s.pause))))
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// work does one job under its lock.
func (s *service) work(ctx context.Context, j job, random *rand.Rand) error {
	hold := j.hold + time.Duration(random.Int64N(int64(j.odd)))
	lease, err := acquire(ctx, j.take, s.locker, s.ledger, s.instance, j.resource)
	if err != nil {
		return notInterrupted(ctx, s.instance, err)
	}
	sleep(lease.Context(), hold)
	return notInterrupted(ctx, s.instance, release(s.ledger, lease))
}

func (s *service) pick(random *rand.Rand) job {
	total := 0
	for _, j := range s.jobs {
		total += j.weight
	}
	n := random.IntN(total)
	for _, j := range s.jobs {
		if n -= j.weight; n < 0 {
			return j
		}
	}
	panic("weights do not add up")
}

// acquire takes a lock and enters it in the ledger.
func acquire(ctx context.Context, take taking, locker lock.Locker, l *ledger, instance, resource string) (lock.Lease,
	error) {
	before := l.fence(resource)
	began := time.Now()
	lease, err := take(ctx, locker, resource)
	if err != nil {
		return nil, err
	}
	l.granted(grant{lease: lease, instance: instance, waited: time.Since(began), before: before})
	return lease, nil
}

// release releases the lease, even one that was lost. Its error is one that
// the planted faults do not explain.
func release(l *ledger, lease lock.Lease) error {
	l.ended(lease, errors.Is(context.Cause(lease.Context()), lock.ErrLost))
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	err := lease.Release(ctx)
	if _, known := errors.AsType[*lock.ReleaseError](err); known {
		return nil
	}
	return err
}

// notInterrupted drops the error of a program that is ending.
func notInterrupted(ctx context.Context, instance string, err error) error {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s: %w", instance, err)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

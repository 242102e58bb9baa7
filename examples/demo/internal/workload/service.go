// Package workload is what the services of the demo do under locks.
package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/lock"
)

// releaseTimeout bounds how long a service waits to hear of its release.
const releaseTimeout = time.Second

// Process is the lock of one process, on connections of its own. Close ends it without a word to the servers.
type Process interface {
	lock.Locker
	io.Closer
}

// Service is one process of a Profile: its own lock on its own connections.
type Service struct {
	Profile
	Locker Process
	Ledger *ledger.Ledger
	Seed   uint64
}

// Run works until ctx ends. Its error is one the lock should not have given.
func (s *Service) Run(ctx context.Context) error {
	errs := make([]error, s.Workers)
	var wg sync.WaitGroup
	for i := range s.Workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(s.Seed, uint64(i)))
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = s.work(ctx, s.pick(random), random)
				Sleep(ctx, time.Duration(random.Int64N(int64(s.pause))))
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// work does one job under its lock.
func (s *Service) work(ctx context.Context, j job, random *rand.Rand) error {
	hold := j.hold + time.Duration(random.Int64N(int64(j.odd)))
	lease, err := Acquire(ctx, j.take, s.Locker, s.Ledger, s.Instance, j.resource)
	if err != nil {
		return notInterrupted(ctx, s.Instance, err)
	}
	Sleep(lease.Context(), hold)
	return notInterrupted(ctx, s.Instance, Release(s.Ledger, lease))
}

func (s *Service) pick(random *rand.Rand) job {
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

// Acquire takes a lock and enters it in the ledger.
func Acquire(ctx context.Context, take Taking, locker lock.Locker, l *ledger.Ledger, instance, resource string) (
	lock.Lease, error) {
	before := l.Fence(resource)
	began := time.Now()
	lease, err := take(ctx, locker, resource)
	if err != nil {
		return nil, err
	}
	l.Granted(ledger.Grant{Lease: lease, Instance: instance, Waited: time.Since(began), Before: before})
	return lease, nil
}

// Release releases the lease, even one that was lost. Its error is one that
// the planted faults do not explain.
func Release(l *ledger.Ledger, lease lock.Lease) error {
	l.Ended(lease, errors.Is(context.Cause(lease.Context()), lock.ErrLost))
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

func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

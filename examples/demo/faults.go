package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// faults are what goes wrong in a run, one after the other.
type faults struct {
	cfg         config
	out         *screen
	backend     backend
	ledger      *ledger
	observatory *observatory

	calm struct { // between faults
		acquisitions int
		length       time.Duration
	}
}

// fault happens when a share of the run is over. It returns what it did, in a
// sentence, or "" if the run ended first.
type fault struct {
	at     float64
	name   string
	happen func(context.Context) (string, error)
}

// run returns a line for each fault that happened.
func (f *faults) run(ctx context.Context) (lines []string, err error) {
	began := time.Now()
	for _, next := range f.backend.faults(f) {
		f.rest(ctx, began.Add(time.Duration(next.at*float64(f.cfg.length))))
		if ctx.Err() != nil {
			return lines, nil
		}
		did, err := next.happen(ctx)
		switch {
		case did != "":
			lines = append(lines, fmt.Sprintf("%-16s %s", next.name, hang(did, 17)))
		case err != nil && ctx.Err() == nil:
			return lines, fmt.Errorf("%s: %w", next.name, err)
		}
	}
	return lines, nil
}

// hold acquires a resource as an instance that exists only for a fault. Unless
// there is an error, the caller closes the locker.
func (f *faults) hold(ctx context.Context, instance, resource string) (*process, lock.Lease, error) {
	locker, err := f.observatory.process(f.backend, instance)
	if err != nil {
		return nil, nil, err
	}
	lease, err := acquire(ctx, holdForFault, locker, f.ledger, instance, resource)
	if err != nil {
		_ = locker.Close()
		return nil, nil, err
	}
	return locker, lease, nil
}

// rest does nothing until then, and counts what the services do meanwhile.
func (f *faults) rest(ctx context.Context, until time.Time) {
	before, _ := f.ledger.acquisitions()
	began := time.Now()
	sleep(ctx, time.Until(until))
	after, _ := f.ledger.acquisitions()
	f.calm.acquisitions += after - before
	f.calm.length += time.Since(began)
}

// usual is the number of acquisitions a second without a fault.
func (f *faults) usual() float64 { return float64(f.calm.acquisitions) / f.calm.length.Seconds() }

// rate is acquisitions a second since an earlier total.
func (f *faults) rate(before int, since time.Time) float64 {
	total, _ := f.ledger.acquisitions()
	return float64(total-before) / time.Since(since).Seconds()
}

// brief is how long a fault lasts that others do not depend on.
func (f *faults) brief() time.Duration {
	return min(max(f.cfg.length*15/100, 300*time.Millisecond), 4*time.Second)
}

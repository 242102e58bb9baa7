// Package faults is what goes wrong in a run of the demo, and what came of it.
package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/lock"
)

// Faults are what goes wrong in a run, one after the other. Set all fields before Run.
type Faults struct {
	TTL, Length time.Duration
	Out         *screen.Screen
	Ledger      *ledger.Ledger
	Open        func(instance string) (workload.Process, error) // the lock of a process that exists only for a fault

	calm struct { // between faults
		acquisitions int
		length       time.Duration
	}
}

// Fault happens when a share of the run is over. It returns what it did, in a
// sentence, or "" if the run ended first.
type Fault struct {
	At     float64
	Name   string
	Happen func(context.Context) (string, error)
}

// Run returns a line for each fault that happened.
func (f *Faults) Run(ctx context.Context, all []Fault) (lines []string, err error) {
	began := time.Now()
	for _, next := range all {
		f.rest(ctx, began.Add(time.Duration(next.At*float64(f.Length))))
		if ctx.Err() != nil {
			return lines, nil
		}
		did, err := next.Happen(ctx)
		switch {
		case did != "":
			lines = append(lines, fmt.Sprintf("%-16s %s", next.Name, screen.Hang(did, 17)))
		case err != nil && ctx.Err() == nil:
			return lines, fmt.Errorf("%s: %w", next.Name, err)
		}
	}
	return lines, nil
}

// hold acquires a resource as an instance that exists only for a fault. Unless
// there is an error, the caller closes the locker.
func (f *Faults) hold(ctx context.Context, instance, resource string) (workload.Process, lock.Lease, error) {
	locker, err := f.Open(instance)
	if err != nil {
		return nil, nil, err
	}
	lease, err := workload.Acquire(ctx, workload.HoldForFault, locker, f.Ledger, instance, resource)
	if err != nil {
		_ = locker.Close()
		return nil, nil, err
	}
	return locker, lease, nil
}

// rest does nothing until then, and counts what the services do meanwhile.
func (f *Faults) rest(ctx context.Context, until time.Time) {
	before, _ := f.Ledger.Acquisitions()
	began := time.Now()
	workload.Sleep(ctx, time.Until(until))
	after, _ := f.Ledger.Acquisitions()
	f.calm.acquisitions += after - before
	f.calm.length += time.Since(began)
}

// usual is the number of acquisitions a second without a fault.
func (f *Faults) usual() float64 { return float64(f.calm.acquisitions) / f.calm.length.Seconds() }

// rate is acquisitions a second since an earlier total.
func (f *Faults) rate(before int, since time.Time) float64 {
	total, _ := f.Ledger.Acquisitions()
	return float64(total-before) / time.Since(since).Seconds()
}

// Brief is how long a fault lasts that others do not depend on.
func (f *Faults) Brief() time.Duration {
	return min(max(f.Length*15/100, 300*time.Millisecond), 4*time.Second)
}

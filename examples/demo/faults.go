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
	servers     *servers
	ledger      *ledger
	observatory *observatory
}

// fault happens when a share of the run is over. It returns what it did, in a
// sentence, or "" if the run ended first.
type fault struct {
	at     float64
	name   string
	happen func(context.Context) (string, error)
}

// plan leaves out what these servers cannot or must not suffer.
func (f *faults) plan() []fault {
	crash := fault{0.40, "crashed holder", f.crashHolder}
	if f.servers.own == nil {
		return []fault{crash}
	}
	eternal := fault{0.10, "key without TTL", f.plantEternalKey}
	majority := fault{0.62, "majority paused", f.pauseMajority}
	if len(f.servers.urls) < 3 {
		return []fault{eternal, crash, majority}
	}
	return []fault{eternal, {0.20, "paused node", f.pauseNode}, crash, majority}
}

// run returns a line for each fault that happened.
func (f *faults) run(ctx context.Context) (lines []string, err error) {
	began := time.Now()
	for _, next := range f.plan() {
		sleep(ctx, time.Until(began.Add(time.Duration(next.at*float64(f.cfg.length)))))
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
	locker, err := f.observatory.process(f.servers, instance)
	if err != nil {
		return nil, nil, err
	}
	lease, err := acquire(ctx, locker, f.ledger, instance, resource)
	if err != nil {
		_ = locker.Close()
		return nil, nil, err
	}
	return locker, lease, nil
}

// rate is acquisitions a second since an earlier total.
func (f *faults) rate(before int, since time.Time) float64 {
	total, _ := f.ledger.acquisitions()
	return float64(total-before) / time.Since(since).Seconds()
}

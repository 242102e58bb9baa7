package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/lock"
)

// Outage is a time, longer than the TTL, in which too many servers hang to renew or
// acquire a lease.
type Outage struct {
	Hung       []Pauser
	Hang, Back string // "3 of 5 nodes hang", "5 of 5 nodes answer again"
	They       string // "the nodes"
}

// Outage shows how a holder and those who wait come through an outage.
func (f *Faults) Outage(o Outage) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		const instance, resource = "archiver-1", "report:daily"
		locker, lease, err := f.hold(ctx, instance, resource)
		if err != nil {
			return "", err
		}
		defer func() { _ = locker.Close() }()
		if err := o.pause(); err != nil {
			return "", errors.Join(err, o.resume(), workload.Release(f.Ledger, lease))
		}
		f.Out.Event(screen.Yellow, "PAUSE", "%s: nothing can be granted, and %s cannot renew %s", o.Hang, instance,
			resource)
		loss, err := f.awaitLoss(ctx, lease)
		grants, unfollow := f.Ledger.Follow(resource)
		defer unfollow()
		err = errors.Join(o.resume(), err)
		resumed := time.Now()
		if err != nil || loss == "" {
			return "", err
		}
		f.Out.Event(screen.Green, "RESUME", "%s", o.Back)
		select {
		case g := <-grants:
			f.Out.Event(screen.Green, "GRANT", "%s to %s, with a higher fencing token, %s after %s came back",
				resource, g.Instance, screen.Short(time.Since(resumed)), o.They)
		case <-ctx.Done():
		}
		return loss, nil
	}
}

func (o Outage) pause() error {
	var errs []error
	for _, p := range o.Hung {
		errs = append(errs, p.Pause())
	}
	return errors.Join(errs...)
}

func (o Outage) resume() error {
	var errs []error
	for _, p := range o.Hung {
		errs = append(errs, p.Resume())
	}
	return errors.Join(errs...)
}

// awaitLoss waits until the lease is over, and then until its TTL surely is. It
// returns how that went, or "" if the run ended first.
func (f *Faults) awaitLoss(ctx context.Context, lease lock.Lease) (string, error) {
	began := time.Now()
	<-lease.Context().Done()
	took, cause := time.Since(began), context.Cause(lease.Context())
	if err := workload.Release(f.Ledger, lease); err != nil {
		return "", err
	}
	if !errors.Is(cause, lock.ErrLost) {
		return "", nil
	}
	f.Out.Event(screen.Red, "LOST", "the holder of %s learns it after %s, from its own timer, with no node to ask: %v",
		lease.Resource(), screen.Short(took), lock.ErrLost)
	workload.Sleep(ctx, time.Until(began.Add(f.TTL*13/10)))
	return fmt.Sprintf("the holder of %s learned it after %s (TTL %v): %v", lease.Resource(), screen.Short(took), f.TTL,
		lock.ErrLost), nil
}

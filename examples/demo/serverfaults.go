package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// pauser is a server that can be made to hang.
type pauser interface {
	Pause() error
	Resume() error
}

// disruption takes a server away for a while.
type disruption struct {
	word, what     string // as PAUSE, and what happens, for the screen
	take           func() error
	backWord, back string
	giveBack       func() error  // nil: it stays away
	seen           func() string // what is different just before it is given back; may be nil
	did            string        // what the closing lines say, up to how long it took
}

// disrupt compares what the services can do meanwhile with what they usually can.
func (f *faults) disrupt(d disruption) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		f.out.event(yellow, d.word, "%s", d.what)
		before, _ := f.ledger.acquisitions()
		grants, unfollow := f.ledger.follow(anyResource)
		defer unfollow()
		taken := time.Now()
		if err := d.take(); err != nil {
			return "", err
		}
		still := &standstill{out: f.out, last: taken}
		still.follow(ctx, grants, time.Until(taken.Add(f.brief())))
		during, seen := f.rate(before, taken), ""
		if d.seen != nil && ctx.Err() == nil {
			seen = d.seen()
		}
		if d.giveBack != nil {
			if err := d.giveBack(); err != nil {
				return "", err
			}
			f.out.event(green, d.backWord, "%s", d.back)
		}
		took := time.Since(taken)
		if !still.awaitGrant(ctx, grants) {
			return "", nil
		}
		return fmt.Sprintf("%s %s: %.0f acquisitions/s before, %.0f meanwhile%s%s", d.did, short(took), f.usual(),
			during, still, seen), nil
	}
}

// outage is a time, longer than the TTL, in which too many servers hang to renew or
// acquire a lease.
type outage struct {
	hung       []pauser
	hang, back string // "3 of 5 nodes hang", "5 of 5 nodes answer again"
	they       string // "the nodes"
}

// outage shows how a holder and those who wait come through an outage.
func (f *faults) outage(o outage) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		const instance, resource = "archiver-1", "report:daily"
		locker, lease, err := f.hold(ctx, instance, resource)
		if err != nil {
			return "", err
		}
		defer func() { _ = locker.Close() }()
		if err := o.pause(); err != nil {
			return "", errors.Join(err, o.resume(), release(f.ledger, lease))
		}
		f.out.event(yellow, "PAUSE", "%s: nothing can be granted, and %s cannot renew %s", o.hang, instance, resource)
		loss, err := f.awaitLoss(ctx, lease)
		grants, unfollow := f.ledger.follow(resource)
		defer unfollow()
		err = errors.Join(o.resume(), err)
		resumed := time.Now()
		if err != nil || loss == "" {
			return "", err
		}
		f.out.event(green, "RESUME", "%s", o.back)
		select {
		case g := <-grants:
			f.out.event(green, "GRANT", "%s to %s, with a higher fencing token, %s after %s came back",
				resource, g.instance, short(time.Since(resumed)), o.they)
		case <-ctx.Done():
		}
		return loss, nil
	}
}

func (o outage) pause() error {
	var errs []error
	for _, p := range o.hung {
		errs = append(errs, p.Pause())
	}
	return errors.Join(errs...)
}

func (o outage) resume() error {
	var errs []error
	for _, p := range o.hung {
		errs = append(errs, p.Resume())
	}
	return errors.Join(errs...)
}

// awaitLoss waits until the lease is over, and then until its TTL surely is. It
// returns how that went, or "" if the run ended first.
func (f *faults) awaitLoss(ctx context.Context, lease lock.Lease) (string, error) {
	began := time.Now()
	<-lease.Context().Done()
	took, cause := time.Since(began), context.Cause(lease.Context())
	if err := release(f.ledger, lease); err != nil {
		return "", err
	}
	if !errors.Is(cause, lock.ErrLost) {
		return "", nil
	}
	f.out.event(red, "LOST", "the holder of %s learns it after %s, from its own timer, with no node to ask: %v",
		lease.Resource(), short(took), cause)
	sleep(ctx, time.Until(began.Add(f.cfg.ttl*13/10)))
	return fmt.Sprintf("the holder of %s learned it after %s (TTL %v): %v", lease.Resource(), short(took), f.cfg.ttl,
		cause), nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/nodes"
)

// pauseNode makes one node hang for a while: a quorum goes on without it.
func (f *faults) pauseNode(ctx context.Context) (string, error) {
	length := min(max(f.cfg.length*15/100, 300*time.Millisecond), 4*time.Second)
	node := f.servers.own.Nodes()[1]
	usual := f.rate(0, f.out.began)
	before, _ := f.ledger.acquisitions()
	paused := time.Now()
	if err := node.Pause(); err != nil {
		return "", err
	}
	f.out.event(yellow, "PAUSE", "node %s hangs for %v; the other %d go on", node.Addr(), length, len(f.servers.urls)-1)
	sleep(ctx, length)
	during := f.rate(before, paused)
	if err := node.Resume(); err != nil {
		return "", err
	}
	f.out.event(green, "RESUME", "node %s answers again", node.Addr())
	return fmt.Sprintf("one of %d hung for %s: %.0f acquisitions/s before, %.0f meanwhile",
		len(f.servers.urls), short(time.Since(paused)), usual, during), nil
}

// pauseMajority makes so many nodes hang, for longer than the TTL, that no lease
// can be renewed and none acquired.
func (f *faults) pauseMajority(ctx context.Context) (string, error) {
	const instance, resource = "archiver-1", "report:daily"
	all := f.servers.own.Nodes()
	hung := all[(len(all)-1)/2:]
	locker, lease, err := f.hold(ctx, instance, resource)
	if err != nil {
		return "", err
	}
	defer func() { _ = locker.Close() }()
	if err := errors.Join(pauseAll(hung)...); err != nil {
		return "", errors.Join(err, errors.Join(resumeAll(hung)...), release(f.ledger, lease))
	}
	f.out.event(yellow, "PAUSE", "%d of %d nodes hang: nothing can be granted, and %s cannot renew %s",
		len(hung), len(all), instance, resource)
	loss, err := f.awaitLoss(ctx, lease)
	grants, unfollow := f.ledger.follow(resource)
	defer unfollow()
	err = errors.Join(append(resumeAll(hung), err)...)
	resumed := time.Now()
	if err != nil || loss == "" {
		return "", err
	}
	f.out.event(green, "RESUME", "%d of %d nodes answer again", len(all), len(all))
	select {
	case g := <-grants:
		f.out.event(green, "GRANT", "%s to %s, with a higher fencing token, %s after the nodes came back",
			resource, g.instance, short(time.Since(resumed)))
	case <-ctx.Done():
	}
	return loss, nil
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
	f.out.event(red, "LOST", "the holder of %s is told after %s, by its own timer, with no node to ask: %v",
		lease.Resource(), short(took), cause)
	sleep(ctx, time.Until(began.Add(f.cfg.ttl*13/10)))
	return fmt.Sprintf("the holder of %s was told after %s (TTL %v): %v", lease.Resource(), short(took), f.cfg.ttl, cause), nil
}

func pauseAll(all []nodes.Node) (errs []error) {
	for _, n := range all {
		errs = append(errs, n.Pause())
	}
	return errs
}

func resumeAll(all []nodes.Node) (errs []error) {
	for _, n := range all {
		errs = append(errs, n.Resume())
	}
	return errs
}

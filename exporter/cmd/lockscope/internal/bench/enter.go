package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/seen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner"
)

// running is the lock that only one bench has at a time.
const running = "running"

// refuseWaiters keeps the bench from slowing down callers that wait for locks.
func (b *bench) refuseWaiters(ctx context.Context) error {
	if b.despiteWaiters {
		return nil
	}
	s, err := scanner.New(b.clients(), scanner.WithPatterns("*"), scanner.WithNodeNames(target.Names(b.nodes)...))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	w, err := s.Waits(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(w.Locks) > 0:
		first := w.Locks[0]
		return fmt.Errorf("%s with waiters, such as %q with %d: the bench would slow them down. "+
			"Run it when nobody waits, or with --despite-waiters", output.Count(len(w.Locks), "lock"),
			first.Resource, first.Callers)
	case err != nil:
		return fmt.Errorf("it is unknown whether callers wait for locks: correct the error, or use "+
			"--despite-waiters: %w", cmp.Or(seen.Err(w), err))
	}
	return nil
}

// votes collects how each node answered the latest acquire.
type votes struct {
	mu   sync.Mutex
	of   map[string]error
	all  int
	done chan struct{} // closed once all nodes have answered
}

func newVotes(nodes int) *votes {
	return &votes{of: make(map[string]error), all: nodes, done: make(chan struct{})}
}

// hear has the signature of lock.Trace.NodeEnd.
func (v *votes) hear(_ context.Context, e lock.NodeEnd) {
	if e.Op != lock.OpAcquire {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, again := v.of[e.Node]
	if v.of[e.Node] = e.Err; !again && len(v.of) == v.all {
		close(v.done)
	}
}

// unfit has an error for each node that did not vote, in the order of names.
func (v *votes) unfit(names []string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []error
	for _, name := range names {
		if err := v.of[name]; err != nil {
			all = append(all, fmt.Errorf("%s does not vote: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// enter acquires the lock of the bench, and makes sure that every node votes. The first acquire connects, which may
// take longer than a node timeout; so a second one decides.
func (b *bench) enter(ctx context.Context, l lock.Locker) (lease lock.Lease, err error) {
	for range 2 {
		v := newVotes(len(b.nodes))
		lease, err = l.Acquire(lock.WithTrace(ctx, &lock.Trace{NodeEnd: v.hear}), running, lock.TTL(b.ttl),
			lock.NoWait(), lock.MaxHold(lock.Unlimited))
		if held, ok := errors.AsType[*lock.HeldError](err); ok {
			return nil, fmt.Errorf("another bench runs on these servers: %w. Wait until it has ended", held)
		}
		if lock.ReasonOf(err) == lock.ReasonInvalid {
			return nil, err
		}
		select {
		case <-v.done:
		case <-ctx.Done():
		}
		unfit := v.unfit(b.names)
		if err == nil && unfit == nil && ctx.Err() == nil {
			return lease, nil
		}
		if err == nil {
			_ = release(ctx, lease)
		}
		if unfit != nil {
			err = fmt.Errorf("%w\nbench needs every node: find out more with \"lockscope doctor\"", unfit)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, err
}

package lock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// MaxNodes is the largest number of nodes of one engine. More than nine make
// nothing safer that is worth their latency.
const MaxNodes = 63

// Engine is a Locker over one node, or over a quorum of independent ones, of any
// driver. It is safe for concurrent use.
type Engine struct {
	cfg     *Settings
	id      string // names this process's waiter in queues
	members []*member
	quorum  int
	backend Backend
	places  *places
	group   *group

	done      chan struct{} // closed by Close
	closeOnce sync.Once
	closeErr  error

	attempts atomic.Uint64

	mu     sync.Mutex
	leases map[*lease]struct{}
}

// attemptName tells one attempt from all others, in public: it follows the holder
// record, so that an Acquire recognizes what its own earlier attempt left behind.
func (r *Engine) attemptName() string {
	return r.id + "." + strconv.FormatUint(r.attempts.Add(1), 36)
}

// Close ends every wait with ErrClosed and every lease's context with ErrClosed
// as cause, waits for the commands under way (the node timeout bounds each) and
// closes lockscope's connections. Leases not released before are not given back:
// the work they protect may still be running, so their keys live out their TTL.
// A dial under way is waited for too, at most the given client's DialTimeout or ten
// seconds; one that has not ended by then is left behind, and Close says so.
// Further calls return the first one's result.
func (r *Engine) Close() error {
	r.closeOnce.Do(func() {
		close(r.done)
		for _, l := range r.heldLeases() {
			l.end(ErrClosed)
		}
		r.group.close()
		errs := make([]error, len(r.members))
		var closing sync.WaitGroup
		for i, m := range r.members {
			closing.Go(func() { errs[i] = m.Close() })
		}
		closing.Wait()
		for _, f := range r.cfg.closers {
			errs = append(errs, f())
		}
		r.closeErr = errors.Join(errs...)
	})
	return r.closeErr
}

func (r *Engine) heldLeases() []*lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*lease, 0, len(r.leases))
	for l := range r.leases {
		all = append(all, l)
	}
	return all
}

// Acquire implements [Locker]. Calls for one resource from one engine are served
// first come, first served, and only one of them contends with other processes.
func (r *Engine) Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error) {
	o := NewAcquireOptions(r.cfg.acquire...)
	o.apply(opts)
	if err := validateName(resource); err != nil {
		return nil, err
	}
	if err := o.validate(r.cfg); err != nil {
		return nil, fmt.Errorf("%w (resource %q)", err, resource)
	}
	c := &contest{r: r, ts: tracersOf(ctx), name: resource, key: r.cfg.Prefix + resource, opts: o, began: time.Now()}
	e := AcquireStart{Resource: resource, Backend: r.backend, Nodes: len(r.members), Quorum: r.quorum, Options: o}
	hooked := c.ts.acquireStart(ctx, e)
	l, err := c.run(ctx, hooked)
	if len(c.ts) > 0 {
		done := AcquireEnd{AcquireStart: e, Attempts: c.attempts, Took: time.Since(c.began), Err: err}
		if l != nil {
			done.Validity, done.Fence = l.attempt.validity, l.fence
		}
		c.ts.acquireEnd(hooked, done)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// run acquires within the wait budget; the lease descends from the caller's ctx.
func (c *contest) run(ctx, hooked context.Context) (*lease, error) {
	if err := c.endedBy(ctx); err != nil {
		return nil, c.cut(err, nil)
	}
	wait := hooked
	if c.opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(hooked, c.opts.MaxWait, ErrMaxWait)
		defer cancel()
	}
	held := true
	defer func() {
		if !held {
			c.r.places.leave(c.at)
		}
	}()
	for {
		c.at, held = c.r.places.enter(c.key), false
		a, err := c.acquire(wait)
		if err != nil {
			return nil, err
		}
		l := newLease(ctx, hooked, a)
		held = true
		if l.Remaining() > 0 {
			return l, nil
		}
		l.lose()
		c.last = fmt.Errorf("%w: %q ran out while this process stood still", ErrTooLate, c.name)
		if c.opts.NoWait || c.attempts == c.opts.MaxAttempts {
			return nil, c.last
		}
		c.ticket, c.queued = 0, 0 // the grant has used them up
	}
}

// wakeUp makes the function that member tells of being named. If nobody here
// waits any more, the next in line is named instead.
func (r *Engine) wakeUp(m *member) func(lockKey string) {
	return func(lockKey string) {
		if r.places.wakeUp(lockKey) {
			return
		}
		resource := lockKey[min(len(r.cfg.Prefix), len(lockKey)):]
		if validateName(resource) != nil {
			return
		}
		req := driver.LeaveRequest{Key: lockKey, WaiterID: r.id, Handoff: r.cfg.handoffWindow()}
		r.group.run(func() {
			ctx, cancel := r.within(context.Background())
			defer cancel()
			m.note(m.Leave(ctx, req))
		})
	}
}

package simulation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// call is one call of a construct, with the leases that it acquires.
type call struct {
	h       *history
	id      string
	client  int
	stall   time.Duration // how long the process is stopped after an attempt
	started time.Duration

	mu       sync.Mutex
	acquires int
	latest   time.Duration // when the last of them began
	atOnce   int           // how many of them began then
	failed   bool
	leases   []*leaseRecord
	released []string // names in the order of their first release
}

type (
	callKey  struct{}
	leaseKey struct{} // of the lease whose Acquire or whose context it is
)

func recordOf(ctx context.Context) *leaseRecord {
	rec, _ := ctx.Value(leaseKey{}).(*leaseRecord)
	return rec
}

// begin begins a call. Its context ends when o says, also while what it acquired is held.
func (h *history) begin(c int, id string, o *op) (*call, context.Context, context.CancelFunc) {
	p := &call{h: h, id: id, client: c, stall: o.stall, started: h.now()}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), callKey{}, p))
	h.log("%s begins %v", id, o)
	if o.cancel == 0 {
		return p, ctx, cancel
	}
	timer := time.AfterFunc(o.cancel, cancel)
	return p, ctx, func() {
		timer.Stop()
		cancel()
	}
}

// witness is the Locker that a construct uses in one client. It records each lease as if a caller had acquired it, so
// that everything that is checked of leases is checked of these, too.
type witness struct {
	h      *history
	client int
}

func (w witness) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	h, p := w.h, ctx.Value(callKey{}).(*call)
	p.pace()
	rec := &leaseRecord{
		id: p.nextID(), name: resource, client: w.client, started: h.now(), outer: recordOf(ctx),
	}
	ctx = context.WithValue(locktrace.WithTraceparent(ctx, rec.id), leaseKey{}, rec)
	lease, err := h.clients[w.client].locker.Acquire(locktrace.With(ctx, h.hooks(rec, p.stall)), resource, opts...)
	if err != nil {
		h.log("%s of %s fails: %v", rec.id, resource, err)
		h.checkHeldError(rec.id, err)
		return nil, err
	}
	h.mu.Lock()
	rec.name = lease.Resource() // any slot
	h.mu.Unlock()
	h.acquired(rec, lease)
	p.add(rec)
	return &witnessed{lease, p, rec}, nil
}

// pace breaks a loop that does not wait, which would stop time in a bubble.
func (p *call) pace() {
	const tooMany = 60 // more than a look at all slots, and all offers of other callers
	p.mu.Lock()
	if p.h.now() != p.latest {
		p.latest, p.atOnce = p.h.now(), 0
	}
	p.atOnce++
	spins := p.atOnce == tooMany
	p.mu.Unlock()
	if !spins {
		return
	}
	p.h.violate("I8 %s acquires %d times without a pause", p.id, tooMany)
	time.Sleep(soon / 5)
}

func (p *call) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acquires++
	return fmt.Sprintf("%s.%d", p.id, p.acquires)
}

// add notes a lease. A call that has failed must not acquire any: a cancelled campaign never leads (E3, S3, P3).
func (p *call) add(rec *leaseRecord) {
	p.mu.Lock()
	failed := p.failed
	p.leases = append(p.leases, rec)
	p.mu.Unlock()
	if failed {
		p.h.violate("%s3 %s has failed, and acquired %v", p.h.plan.code(), p.id, rec)
	}
}

// fail notes that the call has failed with err.
func (p *call) fail(err error) {
	p.h.log("%s fails: %v", p.id, err)
	p.checkNothingLeft(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

// records returns the leases that the call has acquired so far.
func (p *call) records() []*leaseRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.leases)
}

// checkNothingLeft: a call that failed, or that let go of what it had, has released every lease that it acquired (E3,
// S3, P3).
func (p *call) checkNothingLeft(after error) {
	for _, rec := range p.records() {
		p.h.mu.Lock()
		released := rec.released
		p.h.mu.Unlock()
		if !released {
			p.h.violate("%s3 %s is over (%v) and has not released %v", p.h.plan.code(), p.id, after, rec)
		}
	}
}

// witnessed is a lease of a construct.
type witnessed struct {
	lock.Lease
	p   *call
	rec *leaseRecord
}

func (l *witnessed) Release(ctx context.Context) error {
	h := l.p.h
	h.mu.Lock()
	first := !l.rec.released
	l.rec.released = true
	if !l.rec.over {
		l.rec.over, l.rec.ended = true, h.now()
	}
	h.mu.Unlock()
	if first {
		l.p.mu.Lock()
		l.p.released = append(l.p.released, l.rec.name)
		l.p.mu.Unlock()
	}
	err := l.Lease.Release(ctx)
	h.log("%s has released %s: %v", l.rec.id, l.rec.name, err)
	if l.Context().Err() == nil {
		h.violate("I5 %s: the lease's context survived Release", l.rec.id)
	}
	if first && err == nil {
		h.mu.Lock()
		l.rec.gone = h.now()
		h.mu.Unlock()
	}
	return err
}

//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// Permits is how many the semaphore of a campaign has.
const Permits = 3

// Names of what is built on locks. Each of a campaign has one, but for sets: they are of two members out of these.
const (
	electionName  = "leader"
	semaphoreName = "pool"
	rwlockName    = "table"
)

var setMembers = []string{"account.1", "account.2", "account.3", "account.4"}

// claimed is a term, a permit, a set, or a lease of a read/write lock.
type claimed interface {
	Context() context.Context
	Remaining() time.Duration
}

// claim is one that is held, as it is written down.
type claim struct {
	claimed
	what     history.Construct
	resource string
	slot     string
	fence    uint64
	end      func(context.Context) error
}

// builder is a caller that uses what is built on locks. Its Locker is not measured: counters are of plain locks only.
type builder struct {
	*caller
	pool  *semaphore.Semaphore
	table *rwlock.RWLock
	next  lock.Locker
}

// useConstructs returns when all builders have come to their end.
func (w *worker) useConstructs() error {
	next, closeNext, err := w.newLocker()
	if err != nil {
		return err
	}
	var pool *semaphore.Semaphore
	var table *rwlock.RWLock
	if !w.cfg.Forge {
		if pool, err = semaphore.New(next, semaphoreName, Permits); err == nil {
			table, err = rwlock.New(next, rwlockName)
		}
		if err != nil {
			return err
		}
	}
	done := make(chan struct{})
	for i := range w.cfg.Builders {
		go func() {
			defer func() { done <- struct{}{} }()
			c := &caller{worker: w, rand: rand.New(rand.NewPCG(w.cfg.Seed, uint64(1000+i)))}
			b := builder{c, pool, table, next}
			for b.pause(b.upTo(2 * w.cfg.Pace)) {
				b.use(history.Constructs[(w.cfg.Turn+i)%len(history.Constructs)])
			}
		}()
	}
	for range w.cfg.Builders {
		<-done
	}
	return closeNext()
}

// use acquires, holds for a while, mostly a short one, and gives back.
func (b *builder) use(what history.Construct) {
	ttl := b.cfg.MaxTTL * time.Duration(1+b.rand.IntN(3)) / 3
	hold := b.upTo(30 * time.Millisecond)
	if b.rand.IntN(10) == 0 {
		hold = b.upTo(2 * ttl)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	got, err := b.acquire(ctx, what, ttl)
	if err == nil {
		b.hold(got, hold)
	}
}

// acquire waits until ctx ends, and holds without it.
func (b *builder) acquire(ctx context.Context, what history.Construct, ttl time.Duration) (claim, error) {
	working := context.WithoutCancel(ctx)
	opts := []lock.AcquireOption{lock.TTL(ttl), lock.MaxWait(2 * time.Second)}
	if b.cfg.Forge {
		return b.forge(ctx, what)
	}
	switch what {
	case history.Term:
		waiting, cancel := context.WithCancelCause(working)
		timer := time.AfterFunc(2*time.Second, func() { cancel(lock.ErrMaxWait) })
		term, err := election.Campaign(waiting, b.next, electionName, election.TTL(ttl))
		if err == nil && !timer.Stop() { // elected, and too late: a term is kept until it is resigned
			err = errors.Join(lock.ErrMaxWait, term.Resign(working))
		}
		if err != nil {
			cancel(nil)
			return claim{}, fmt.Errorf("not elected in time: %w", err)
		}
		return claim{term, what, electionName, "", term.Number(), term.Resign}, nil
	case history.Permit:
		permit, err := b.pool.Acquire(working, opts...)
		if err != nil {
			return claim{}, err
		}
		return claim{permit, what, semaphoreName, fmt.Sprint(permit.Slot()), permit.Fence(), permit.Release}, nil
	case history.Set:
		names := b.drawMembers()
		set, err := lockset.Acquire(working, b.next, names, opts...)
		if err != nil {
			return claim{}, err
		}
		return claim{set, what, strings.Join(names, ","), "", 0, set.Release}, nil
	case history.WriteLock:
		lease, err := b.table.Lock(working, opts...)
		if err != nil {
			return claim{}, err
		}
		return claim{lease, what, rwlockName, "", lease.Fence(), lease.Release}, nil
	default:
		lease, err := b.table.RLock(working, opts...)
		if err != nil {
			return claim{}, err
		}
		return claim{lease, what, rwlockName, "", lease.Fence(), lease.Release}, nil
	}
}

func (b *builder) drawMembers() []string {
	at := b.rand.Perm(len(setMembers))[:2]
	slices.Sort(at)
	return []string{setMembers[at[0]], setMembers[at[1]]}
}

// forge claims without asking anybody.
func (b *builder) forge(ctx context.Context, what history.Construct) (claim, error) {
	lease, err := b.next.Acquire(context.WithoutCancel(ctx), b.cfg.Resources[0], lock.TTL(time.Second))
	if err != nil {
		return claim{}, err
	}
	c := claim{lease, what, electionName, "", lease.Fence(), lease.Release}
	switch what {
	case history.Permit:
		c.resource, c.slot = semaphoreName, fmt.Sprint(b.rand.IntN(Permits))
	case history.Set:
		c.resource = strings.Join(b.drawMembers(), ",")
	case history.WriteLock, history.ReadLock:
		c.resource = rwlockName
	}
	return c, nil
}

// lookEvery is how often a claim that is held is written down.
const lookEvery = 20 * time.Millisecond

// hold writes down that a claim is valid, again and again, until it is given back or lost.
func (b *builder) hold(c claim, d time.Duration) {
	id := b.ids.next()
	over, tick := time.NewTimer(d), time.NewTicker(lookEvery)
	defer over.Stop()
	defer tick.Stop()
	for held := true; held; {
		b.claim(id, c)
		select {
		case <-tick.C:
		case <-over.C:
			held = false
		case <-b.stop:
			held = false
		case <-c.Context().Done():
			held = false
		}
	}
	b.claim(id, c)
	e := history.Event{T: history.Now(), Kind: history.Yielded, ID: id}
	if cause := context.Cause(c.Context()); cause != nil {
		e.Outcome = causeName(cause)
	}
	b.events.Write(e)
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	_ = c.end(ctx) // what was lost or is unknown is no anomaly; others find out whether it is theirs
}

// claim writes down that c is valid, if it is.
func (b *builder) claim(id int64, c claim) {
	at := history.Now()
	left := c.Remaining()
	if left <= 0 || c.Context().Err() != nil {
		return
	}
	b.events.Write(history.Event{T: at, Kind: history.Claimed, ID: id, Construct: c.what, Resource: c.resource,
		Fence: c.fence, Until: at + int64(left), Text: c.slot})
}

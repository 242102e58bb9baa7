package simulation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// permit is a semaphore.Permit.
type permit interface {
	held
	Slot() int
	Fence() uint64
	Release(ctx context.Context) error
}

// acquirePermit is the Acquire of a semaphore.Semaphore, or of a defect of it.
type acquirePermit func(ctx context.Context, opts ...lock.AcquireOption) (permit, error)

// newSemaphore makes the semaphore of one process.
type newSemaphore func(h *history, client int, name string) acquirePermit

func realSemaphore(h *history, client int, name string) acquirePermit {
	return semaphoreOf(h, client, name, h.plan.permits)
}

func semaphoreOf(h *history, client int, name string, k int) acquirePermit {
	s, err := semaphore.New(witness{h, client}, name, k)
	if err != nil {
		panic(err)
	}
	return func(ctx context.Context, opts ...lock.AcquireOption) (permit, error) {
		p, err := s.Acquire(ctx, opts...)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// semaphores are those of one process, by name.
type semaphores struct {
	mu  sync.Mutex
	all map[string]acquirePermit
}

// semaphore returns the one that all callers of a process share.
func (h *history) semaphore(c int, name string) acquirePermit {
	in := &h.clients[c].semaphores
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.all == nil {
		in.all = make(map[string]acquirePermit)
	}
	if in.all[name] == nil {
		make := h.plant.semaphore
		if make == nil {
			make = realSemaphore
		}
		in.all[name] = make(h, c, name)
	}
	return in.all[name]
}

// holdPermit acquires a permit, works and releases, as o says.
func (h *history) holdPermit(c int, id string, o *op) error {
	b, release, done, err := h.permit(c, id, o)
	if err != nil {
		return err
	}
	defer done()
	h.use(b, o)
	h.letGo(b, o, release)
	return nil
}

func (h *history) permit(c int, id string, o *op) (*holding, func(context.Context) error, func(), error) {
	p, ctx, cancel := h.begin(c, id, o)
	name := resourceName(o.resource)
	got, err := h.semaphore(c, name)(ctx, o.options...)
	if err != nil {
		cancel()
		p.fail(err)
		return nil, nil, nil, err
	}
	fences := map[string]uint64{slotName(name, got.Slot()): got.Fence()}
	return h.holds(p, got, name, fences), got.Release, cancel, nil
}

func slotName(semaphore string, slot int) string { return fmt.Sprintf("%s#%d", semaphore, slot) }

// checkPermits: after all faults have ended, also the permits of processes that died can be acquired again, all at once
// (P5). A call that waits finds each slot that becomes free, while the others are held (P6).
func (h *history) checkPermits() {
	if h.plan.kind != lock.KindSemaphore {
		return
	}
	alive := h.alive()
	for res := range h.plan.resources {
		var release []func(context.Context) error
		for i := range h.plan.permits {
			o := h.plan.atRest(res)
			b, free, done, err := h.permit(alive[i%len(alive)], fmt.Sprintf("c%dall%d.%d", alive[i%len(alive)], res, i), o)
			if err != nil {
				h.violate("P5 permit %d of %d of res%d is not free with nothing wrong any more: %v", i+1, h.plan.permits, res,
					err)
				continue
			}
			release = append(release, func(ctx context.Context) error {
				defer done()
				h.end(b)
				return free(ctx)
			})
		}
		h.checkFound(alive, res, release)
		for _, free := range release {
			_ = free(context.Background())
		}
	}
}

// checkFound frees each slot in turn while a call waits.
func (h *history) checkFound(alive []int, res int, release []func(context.Context) error) {
	for i := range release {
		c := alive[(i+1)%len(alive)]
		o, freed := h.plan.atRest(res), make(chan time.Duration, 1)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			b, free, done, err := h.permit(c, fmt.Sprintf("c%dfinds%d.%d", c, res, i), o)
			if err != nil {
				h.violate("P6 client %d found no slot of res%d: %v", c, res, err)
				return
			}
			if late := b.returned - <-freed; late > soon {
				h.violate("P6 %v: a slot was free for %v", b, late)
			}
			release[i] = func(ctx context.Context) error {
				defer done()
				h.end(b)
				return free(ctx)
			}
		})
		time.Sleep(soon)
		give := release[i]
		release[i] = func(context.Context) error { return nil } // until the waiting call has it
		_ = give(context.Background())
		freed <- h.now()
		waiting.Wait()
	}
}

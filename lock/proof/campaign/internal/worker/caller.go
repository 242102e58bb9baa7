//go:build linux

package worker

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// counter numbers the calls of a worker, from 1.
type counter struct{ n atomic.Int64 }

func (c *counter) next() int64 { return c.n.Add(1) }

// manner is how a caller uses a lock.
type manner int

const (
	plain     manner = iota // take, write, release
	noWait                  // one attempt
	fair                    // behind whoever queues
	long                    // held until it was renewed a few times
	byHand                  // NoRenew, and extended by hand
	limited                 // held for longer than MaxHold
	abandoned               // the caller's context ends while it is held; never released
	impatient               // the caller's context ends while it waits
	heedless                // not renewed, and written under once it is over, as by one who was paused
	manners
)

// weights say how often each manner is drawn.
var weights = [manners]int{plain: 120, noWait: 12, fair: 8, long: 3, byHand: 3, limited: 2, abandoned: 2, impatient: 12,
	heedless: 2}

// intent is one use of a lock, before it begins.
type intent struct {
	resource string
	ttl      time.Duration
	manner   manner
	hold     time.Duration // at least, and but for losses
	maxWait  time.Duration
}

// caller is one goroutine that takes one lock after the other.
type caller struct {
	*worker
	rand *rand.Rand
	// crowd makes it one of several that want the same few resources all the time: they
	// hand their locks over.
	crowd bool
}

func newCaller(w *worker, i int) *caller {
	return &caller{worker: w, rand: rand.New(rand.NewPCG(w.cfg.Seed, uint64(i))), crowd: (w.cfg.Turn+i)%3 == 2}
}

func (c *caller) loop() {
	for c.pause(c.upTo(2 * c.cfg.Pace)) {
		c.use(c.draw())
	}
}

// crowded is how many of the resources a crowd wants.
const crowded = 2

// draw decides on the next use. All who want a resource ask for the same TTL, as hand-overs
// want it. Those that a crowd wants are not held for long.
func (c *caller) draw() intent {
	at := c.rand.IntN(len(c.cfg.Resources))
	if c.crowd {
		at = c.rand.IntN(min(crowded, len(c.cfg.Resources)))
	}
	i := intent{
		resource: c.cfg.Resources[at], ttl: c.cfg.MaxTTL * time.Duration(1+at%3) / 3, manner: c.drawManner(),
		hold: c.upTo(4 * time.Millisecond), maxWait: time.Second + c.upTo(2*time.Second),
	}
	if at < crowded && i.manner != noWait && i.manner != impatient {
		i.manner, i.hold = plain, 0
	}
	switch i.manner {
	case long, byHand:
		i.hold = i.ttl/2 + c.upTo(i.ttl)
	case limited, abandoned:
		i.hold = c.upTo(i.ttl / 2)
	case heedless:
		i.hold = i.ttl*9/10 + c.upTo(i.ttl/5)
	case impatient:
		i.maxWait = c.upTo(50 * time.Millisecond)
	}
	return i
}

func (c *caller) drawManner() manner {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := c.rand.IntN(total)
	for m, w := range weights {
		if at -= w; at < 0 {
			return manner(m)
		}
	}
	return plain
}

func (i intent) options() []lock.AcquireOption {
	opts := []lock.AcquireOption{lock.TTL(i.ttl)}
	switch i.manner {
	case noWait:
		return append(opts, lock.NoWait())
	case fair:
		opts = append(opts, lock.Fair())
	case byHand, heedless:
		opts = append(opts, lock.NoRenew())
	case limited:
		opts = append(opts, lock.MaxHold(max(i.hold, 1)))
	}
	if i.manner == impatient {
		return opts // its context bounds the wait
	}
	return append(opts, lock.MaxWait(i.maxWait))
}

// use takes the lock and does with it what is intended.
func (c *caller) use(i intent) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if i.manner == impatient {
		timer := time.AfterFunc(i.maxWait, cancel)
		defer timer.Stop()
	}
	h := c.acquire(ctx, i)
	if h == nil {
		return
	}
	if i.manner == heedless {
		h.updateBlindly(i.hold)
	} else {
		h.update()
	}
	switch i.manner {
	case plain, noWait, fair, impatient:
		c.keep(h, i.hold)
	case byHand:
		for left := i.hold; left > 0 && c.keep(h, i.ttl/3); left -= i.ttl / 3 {
			h.extend(ctx)
		}
		h.update()
	case long:
		c.keep(h, i.hold)
		h.update()
	case limited:
		c.keep(h, i.hold+time.Second)
	case abandoned:
		c.keep(h, i.hold)
		h.sample()
		return
	}
	h.release(ctx)
}

// pause lets time pass, and reports that it is not time to end.
func (c *caller) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// keep holds a lease for a while, and reports that it is still held.
func (c *caller) keep(h *held, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.lease.Context().Done():
	case <-c.stop:
	}
	return false
}

func (c *caller) upTo(d time.Duration) time.Duration {
	return time.Duration(c.rand.Int64N(max(int64(d), 1)))
}

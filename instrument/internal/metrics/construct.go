package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// recent is how long a campaign that found no quorum counts after its end: election.Run campaigns again within five
// seconds.
const recent = 10 * time.Second

// constructs has one for each kind that the resources of a series are used by, and nil for the others.
type constructs [outcome.Kinds]atomic.Pointer[construct]

// construct counts the leases of one kind, for one value of the resource label. Its gauges are computed when they are
// collected: a lease whose validity has run out does not count, even if its process has not noticed.
type construct struct {
	kind       outcome.Kind
	held       prometheus.Gauge
	waiting    prometheus.Gauge
	ended      [outcome.Ends]prometheus.Counter
	candidates [outcome.Leaders]prometheus.Gauge // of an election
	named      atomic.Pointer[named]

	mu       sync.Mutex
	leases   map[*part]lock.Lease
	failedAt time.Time // of the last campaign that found no quorum
}

// named are gauges that make sense only for a construct with a label value of its own: under a folded name there are
// many terms and many semaphores.
type named struct{ term, since, slots prometheus.Gauge }

// part is what a call of a construct has besides others.
type part struct {
	of     *construct
	leader atomic.Int32 // an outcome.Leader
	began  time.Time    // of the hold
	fence  uint64
}

// construct returns the one of a kind. The series must be in use.
func (s *series) construct(kind outcome.Kind) *construct {
	at := &s.constructs[kind]
	if c := at.Load(); c != nil {
		return c
	}
	c := &construct{kind: kind, leases: make(map[*part]lock.Lease)}
	c.held = s.catalogue.constructHeld.WithLabelValues(s.with(kind.String())...)
	c.waiting = s.catalogue.constructWaiting.WithLabelValues(s.with(kind.String())...)
	for i := range c.ended {
		c.ended[i] = s.catalogue.constructEnded.WithLabelValues(s.with(kind.String(), outcome.End(i).String())...)
	}
	if kind == outcome.Election {
		for i := range c.candidates {
			c.candidates[i] = s.catalogue.candidates.WithLabelValues(s.with(outcome.Leader(i).String())...)
		}
	}
	if !at.CompareAndSwap(nil, c) {
		return at.Load()
	}
	return c
}

// begin makes a call part of a construct.
func (c *Call) begin(resource string, o lock.AcquireOptions) {
	of := c.series.construct(outcome.OfKind(o.Kind))
	if label.Name(resource, func() lock.Kind { return o.Kind }) == c.series.label {
		of.name(c.series, o)
	}
	c.part.Store(&part{of: of})
}

// name makes the gauges of a construct with a label value of its own.
func (c *construct) name(s *series, o lock.AcquireOptions) {
	n := c.named.Load()
	if n == nil && c.kind == outcome.Election {
		n = &named{term: s.catalogue.term.WithLabelValues(s.values...),
			since: s.catalogue.termSince.WithLabelValues(s.values...)}
		c.named.Store(n)
	}
	if c.kind == outcome.Semaphore && o.Slots > 0 {
		if n == nil {
			n = &named{slots: s.catalogue.slots.WithLabelValues(s.values...)}
			c.named.Store(n)
		}
		n.slots.Set(float64(o.Slots))
	}
}

// waits notes what a wait says of a leader.
func (p *part) waits(class locktrace.Wait, blocker *lock.HeldError) outcome.Leader {
	l := outcome.OfWait(class, blocker, outcome.Leader(p.leader.Load()))
	p.leader.Store(int32(l))
	return l
}

// failed notes a campaign that found no quorum.
func (p *part) failed(out outcome.Acquisition) {
	if out != outcome.NoQuorum {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.failedAt = time.Now()
}

// Hold counts the lease of a call that is part of a construct, until Ended.
func (c *Call) Hold(l lock.Lease, fence func(lock.Lease) uint64) {
	p := c.part.Load()
	if p == nil {
		return
	}
	p.began, p.fence = c.acquired(), fence(l)
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.leases[p] = l
}

// end counts the end of a lease.
func (p *part) end(cause error) {
	p.of.ended[outcome.OfEnd(cause)].Inc()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.leases, p)
}

// underWay has the calls of constructs that have not returned.
type underWay struct {
	kinds     [outcome.Kinds]int
	campaigns [outcome.Leaders]int // by what they know of a leader
}

func (u *underWay) count(kind outcome.Kind, knows outcome.Leader) {
	u.kinds[kind]++
	if kind == outcome.Election {
		u.campaigns[knows]++
	}
}

// tell sets the gauges.
func (c *construct) tell(now time.Time, calls *underWay) {
	c.waiting.Set(float64(calls.kinds[c.kind]))
	c.mu.Lock()
	defer c.mu.Unlock()
	valid, latest := 0, (*part)(nil)
	for p, l := range c.leases {
		if l.Remaining() <= 0 {
			continue
		}
		if valid++; latest == nil || p.began.After(latest.began) {
			latest = p
		}
	}
	c.held.Set(float64(valid))
	if c.kind == outcome.Election {
		c.tellElection(now, calls.campaigns, latest)
	}
}

func (c *construct) tellElection(now time.Time, campaigns [outcome.Leaders]int, latest *part) {
	if campaigns == [outcome.Leaders]int{} && now.Sub(c.failedAt) < recent {
		campaigns[outcome.LeaderNone] = 1
	}
	for i, n := range campaigns {
		c.candidates[i].Set(float64(n))
	}
	n := c.named.Load()
	if n == nil {
		return
	}
	if latest == nil {
		n.term.Set(0)
		n.since.Set(0)
		return
	}
	n.term.Set(float64(latest.fence))
	n.since.Set(timestamp(latest.began))
}

// tell sets the gauges of running waits and of constructs.
func (s *series) tell(now time.Time, objective time.Duration, stalled map[lockKey]bool) {
	var calls underWay
	s.waiting.tell(now, objective, stalled, s.charge, &calls)
	for i := range s.constructs {
		if c := s.constructs[i].Load(); c != nil {
			c.tell(now, &calls)
		}
	}
}

package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

const (
	simNodeTimeout = 50 * time.Millisecond
	simMaxTTL      = 2 * time.Second
	simQuarantine  = simMaxTTL + simMaxTTL/100 + 2*time.Millisecond
	simLateBy      = 3 * time.Second // the largest delay of a message
)

// soon is how long a slot may be free while a call waits, on nodes that answer: two polls and some round trips.
const soon = time.Second

// plan is one history before it runs. Its seed determines all of it.
type plan struct {
	seed      uint64
	rates     []float64 // the rate of each node's clock
	fresh     bool      // the servers are new and were vouched for
	aof       bool      // they report an append-only file
	resources int
	clients   []clientPlan
	nodes     []timeline // the faults of each node
	calm      bool       // no faults
	wipes     bool       // some node forgets, or gets the keys of another
	steps     bool       // some node's clock steps while no client can have a lock there
	repeats   bool       // some requests take effect twice

	vouches []time.Duration // when an operator vouches for all nodes; nil if that was done before
	change  *change
	revokes []revokeAct

	keeps   bool      // some locks have a minimum hold
	kind    lock.Kind // what the clients use; "" for the lock itself
	permits int       // of each semaphore
	death   *death    // of a client's process; nil if none dies
}

// queueEach reports that the nodes have a queue for each slot of a semaphore, as those of other drivers do.
func (p *plan) queueEach() bool { return p.seed%2 == 0 }

// clientPlan is one process: a Redlock and the goroutines that use it.
type clientPlan struct {
	rate    float64 // the rate of its clock
	poll    time.Duration
	links   []locktest.Faults // one per node
	breaks  []timeline        // one per node: when the link is much worse than that
	wall    wallClock
	workers [][]op

	observes bool // elections, and does nothing else
}

// op is one Acquire and what follows it.
type op struct {
	before    time.Duration // pause before it
	resource  int
	options   []lock.AcquireOption
	ttl       time.Duration
	cancel    time.Duration // when its context ends, after the call; 0: never
	hold      time.Duration
	minHold   time.Duration
	deaf      bool          // it goes on working after the lease's context has ended
	extend    time.Duration // extends by hand this often; 0: never
	stall     time.Duration // how long the process is stopped after an attempt
	register  time.Duration // how long a write to the fenced register takes
	twice     bool          // it releases twice
	cancelled bool          // it releases with a context that has ended
	more      []int         // further resources of a set
	run       bool          // it leads with election.Run
	text      string
}

// timeline is a sequence of faults that do not overlap.
type timeline []fault

type fault struct {
	after time.Duration // since the previous one ended
	kind  faultKind
	lasts time.Duration
}

type faultKind string

const (
	pauses      faultKind = "pause"
	crashes     faultKind = "crash and keep"
	wiped       faultKind = "crash and forget" // the disk was replaced, or there is none
	stale       faultKind = "crash and remember what was"
	rebooted    faultKind = "crash and forget, and then an hour passes on the clock"
	replicates  faultKind = "replica for a while, then replaced"
	setRight    faultKind = "crash and forget, an hour behind, and set right"
	flushed     faultKind = "flush"            // no server reports it
	borrowed    faultKind = "replica and back" // no server reports either
	cutOff      faultKind = "cut off"
	repliesLost faultKind = "replies lost"
	slow        faultKind = "slow"
)

// scope narrows what a plan may contain. The zero value allows everything.
type scope struct {
	nodes     []int // how many; nil for 1 to 7
	rate      float64
	client    float64 // the rate of clients' clocks; 0 for any within the bound
	noWipes   bool
	losses    []faultKind // the only faults of nodes, and frequent; nil for any
	alwaysBad bool        // no calm histories
	calm      bool        // only calm histories
	holdLong  bool        // leases are held until they expire
	close     bool        // leases are as long as possible and nodes are down for moments, so that a slight delay shows
	resources int
	vouched   bool // operators vouch, in time or not
	changed   bool // the set of nodes is changed
	crowds    bool // callers of one process queue, also if losses is set
	deaths    bool // some process dies
}

func newPlan(seed uint64, s scope) *plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &plan{seed: seed, resources: 1 + r.IntN(2), calm: (chance(r, 0.1) || s.calm) && !s.alwaysBad}
	if s.resources > 0 {
		p.resources = s.resources
	}
	sizes := s.nodes
	if sizes == nil {
		sizes = []int{1, 2, 3, 3, 3, 4, 5, 5, 6, 7}
	}
	n := sizes[r.IntN(len(sizes))]
	if s.changed {
		n = p.planChange(r)
	}
	p.wipes = chance(r, 0.35) && !s.noWipes && !p.calm || s.losses != nil
	p.fresh, p.aof = chance(r, 0.5), chance(r, 0.5)
	for range n {
		p.rates = append(p.rates, clockRate(r, s.rate))
		p.nodes = append(p.nodes, p.nodeTimeline(r, s, n))
	}
	base := p.linkFaults(r)
	p.repeats = base.Duplicate > 0
	if s.vouched {
		p.wipes = true
		p.vouches = append(p.vouches, upTo(r, 100*time.Millisecond)) // the one in time
		for range r.IntN(3) {
			p.vouches = append(p.vouches, upTo(r, 3*time.Second))
		}
	}
	for range 2 + r.IntN(3) {
		p.clients = append(p.clients, p.client(r, base, s))
	}
	if s.losses == nil || s.crowds {
		p.addCrowds(s)
	}
	return p
}

// locks are the names of all locks that the clients use.
func (p *plan) locks() (names []string) {
	for i := range p.resources {
		if p.kind != lock.KindSemaphore {
			names = append(names, resourceName(i))
			continue
		}
		for slot := range p.permits {
			names = append(names, slotName(resourceName(i), slot))
		}
	}
	return names
}

// linkFaults returns how bad the network is in this history.
func (p *plan) linkFaults(r *rand.Rand) locktest.Faults {
	f := locktest.Faults{
		RequestDelay: locktest.Between(20*time.Microsecond, time.Millisecond),
		ReplyDelay:   locktest.Between(20*time.Microsecond, time.Millisecond),
		WakeDelay:    locktest.Between(20*time.Microsecond, 2*time.Millisecond),
	}
	if p.calm {
		return f
	}
	f.RequestDelay = locktest.LongTail(20*time.Microsecond, 2*time.Millisecond, 2*simNodeTimeout, pick(r, 0, 0.02, 0.1))
	f.ReplyDelay = locktest.LongTail(20*time.Microsecond, 2*time.Millisecond, 2*simNodeTimeout, pick(r, 0, 0.02, 0.1))
	f.LoseRequest, f.LoseReply = pick(r, 0, 0, 0.02, 0.2), pick(r, 0, 0, 0.02, 0.2)
	f.Late, f.LateBy = pick(r, 0, 0, 0.03, 0.1, 0.3), locktest.Between(time.Millisecond, simLateBy)
	f.Duplicate, f.DuplicateAfter = pick(r, 0, 0, 0, 0.05), locktest.Between(0, simLateBy)
	f.LoseWake = pick(r, 0, 0, 0.1, 1)
	return f
}

// clockRate returns a rate within half a percent of true time, so that no two clocks differ by more than the promised
// one percent, or the given rate.
func clockRate(r *rand.Rand, given float64) float64 {
	rate := 0.995 + 0.01*r.Float64()
	if chance(r, 0.3) {
		rate = []float64{0.995, 1.005}[r.IntN(2)]
	}
	if given != 0 {
		rate = given
	}
	return rate
}

func (p *plan) nodeTimeline(r *rand.Rand, s scope, nodes int) (t timeline) {
	if p.calm {
		return nil
	}
	for range r.IntN(3) {
		kinds := []faultKind{pauses, pauses, crashes}
		switch {
		case s.losses != nil:
			kinds = s.losses
		case p.wipes:
			kinds = append(kinds, wiped, wiped, stale, rebooted, setRight, flushed)
			if nodes > 1 {
				kinds = append(kinds, replicates, borrowed)
			}
		}
		f := fault{after: upTo(r, 3*time.Second), kind: kinds[r.IntN(len(kinds))],
			lasts: upTo(r, 1500*time.Millisecond)}
		if s.close {
			f.lasts /= 100
		}
		p.steps = p.steps || f.kind == rebooted || f.kind == setRight
		t = append(t, f)
	}
	return t
}

func (p *plan) client(r *rand.Rand, base locktest.Faults, s scope) clientPlan {
	c := clientPlan{rate: clockRate(r, s.client), wall: p.wallClock(r), poll: 50*time.Millisecond +
		upTo(r, 450*time.Millisecond)}
	for range p.rates {
		c.links = append(c.links, base)
		var t timeline
		if !p.calm && chance(r, 0.2) {
			kind := []faultKind{cutOff, repliesLost, slow}[r.IntN(3)]
			t = timeline{{after: upTo(r, 3*time.Second), kind: kind, lasts: upTo(r, 2*time.Second)}}
		}
		c.breaks = append(c.breaks, t)
	}
	attempts := 3 + r.IntN(6)
	for range 1 + r.IntN(2) {
		c.workers = append(c.workers, nil)
	}
	for i := range attempts {
		w := i % len(c.workers)
		c.workers[w] = append(c.workers[w], p.op(r, s))
	}
	return c
}

func (p *plan) op(r *rand.Rand, s scope) op {
	o := op{
		before: upTo(r, 400*time.Millisecond), resource: r.IntN(p.resources),
		ttl:      4*simNodeTimeout + upTo(r, simMaxTTL-4*simNodeTimeout),
		hold:     upTo(r, 300*time.Millisecond),
		register: upTo(r, 50*time.Millisecond),
		twice:    chance(r, 0.2), cancelled: chance(r, 0.1), deaf: chance(r, 0.2),
	}
	if s.close {
		o.ttl = simMaxTTL
	}
	if s.changed {
		o.before *= 5 // so that a quarantine ends meanwhile
	}
	if chance(r, 0.25) || s.holdLong {
		o.hold = upTo(r, 2*o.ttl)
	}
	o.add("TTL(%v)", o.ttl)(lock.TTL(o.ttl))
	switch r.IntN(5) {
	case 0:
		o.add("NoWait")(lock.NoWait())
	case 1:
		attempts := 1 + r.IntN(3)
		o.add("MaxAttempts(%d)", attempts)(lock.MaxAttempts(attempts))
		fallthrough
	default:
		wait := time.Millisecond + upTo(r, 4*time.Second)
		o.add("MaxWait(%v)", wait)(lock.MaxWait(wait))
	}
	if chance(r, 0.3) {
		o.add("Fair")(lock.Fair())
	}
	if chance(r, 0.3) || s.holdLong {
		o.add("NoRenew")(lock.NoRenew())
		if chance(r, 0.5) && !s.holdLong {
			o.extend = time.Millisecond + upTo(r, o.ttl/2)
		}
	}
	if chance(r, 0.1) {
		most := time.Millisecond + upTo(r, time.Second)
		o.add("MaxHold(%v)", most)(lock.MaxHold(most))
	}
	if chance(r, 0.05) && !p.calm {
		o.stall = upTo(r, 500*time.Millisecond)
	}
	if chance(r, 0.15) {
		o.cancel = 1 + upTo(r, time.Second)
	}
	return o
}

// add records an option's text and returns the function that adds the option.
func (o *op) add(format string, args ...any) func(lock.AcquireOption) {
	o.text += " " + fmt.Sprintf(format, args...)
	return func(opt lock.AcquireOption) { o.options = append(o.options, opt) }
}

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

func pick(r *rand.Rand, from ...float64) float64 { return slices.Clone(from)[r.IntN(len(from))] }

package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// history is a plan while it runs, inside a bubble.
type history struct {
	plan    *plan
	plant   plant
	began   time.Time
	servers []*locktest.FakeServer
	clients []*client

	mu         sync.Mutex
	leases     []*leaseRecord
	holdings   []*holding             // of constructs
	sightings  []sighting             // of observers
	regs       map[string]*register   // by resource
	logs       map[string]*acquireLog // by id of the Acquire
	turns      map[string]*turn       // by id of the Acquire
	buried     map[grave]bool
	keepers    map[string][]string // nodes that keep the lock of a token for its minimum hold
	violations []string
	violated   map[string]int // by the first word of the format
	trace      func(string)
	restarted  time.Duration // when a node last restarted; 0 if none has
	broken     int           // connections that broke in mid-command
	changed    chan struct{} // closed when the set of nodes is another

	names     sync.Mutex // taken after the mutex of a server
	namings   []naming
	processes map[string]int // clients by the ids under which they wait
}

// acquireLog records what one Acquire sent. Guarded by history.mu.
type acquireLog struct {
	token    string    // of its latest attempt
	refusals []refusal // of that attempt
	earlier  []string  // tokens of earlier attempts
	since    time.Time // when its latest attempt began, by the client's clock
}

type refusal struct {
	own    bool // an attempt of this very Acquire holds the lock
	undone bool // although the node had confirmed the release of every earlier attempt
}

// grave is a token whose release a node has confirmed.
type grave struct {
	node  int
	token string
}

// client is a simulated process.
type client struct {
	index  int
	rate   float64
	redis  *engine.Engine
	locker lock.Locker // redis, or a defect of it
	links  []*locktest.FakeNode
	faults []locktest.Faults
	dead   bool // guarded by history.mu

	semaphores semaphores
}

// leaseRecord is the history of one lease, in true time since the beginning.
type leaseRecord struct {
	id       string
	name     string // of the resource
	client   int
	fence    uint64
	token    string
	lease    lock.Lease
	grant    *leaseRecord  // the first lease of its grant; itself unless the lock was handed over
	handed   bool          // the lock was handed over
	lined    bool          // a queue before the engine made the call wait
	outer    *leaseRecord  // a construct's: the lease in whose context this one was acquired; nil if there is none
	started  time.Duration // when Acquire was called
	decided  time.Duration // when its last attempt was decided
	returned time.Duration // when it returned

	// Guarded by history.mu.
	expiry   time.Duration // when validity ends, unless it is renewed
	ended    time.Duration // when the context ended or Release was called, whichever came first
	over     bool
	released bool          // Release was called
	gone     time.Duration // a construct's: when a quorum had confirmed the release; 0 if none has
	renewed  time.Duration // when its last renewal ended; 0 if none has
	kept     time.Duration // until when nobody else may be granted it, after its release; 0 if it has no minimum hold
	cause    error
}

// plant is a defect in the algorithm, or a broken assumption.
type plant struct {
	wrap       func(h *history, client int, n driver.BlockingNode) driver.BlockingNode
	prepare    func(h *history)
	quarantine time.Duration // of a node that forgot; 0: as promised; below 0: none
	guards     func(*locktest.Guards)
	vouch      func(h *history, v *guard.Vouch)
	change     func(*guard.Change)
	revoked    func() // a revoke has succeeded
	serve      func(lock.Locker) lock.Locker

	campaign  campaign
	set       acquireSet
	semaphore newSemaphore
}

// outcome summarizes a history.
type outcome struct {
	seed       uint64
	leases     int
	handed     int // of these, leases handed over inside a process
	violations []string
}

// run runs the history of this seed. A non-nil trace is told about every event.
func run(t *testing.T, p *plan, pl plant, trace func(string)) (out outcome) {
	synctest.Test(t, func(*testing.T) {
		h := newHistory(p, pl, trace)
		h.happen()
		out = outcome{seed: p.seed, leases: len(h.leases), handed: h.handedOver(), violations: h.violations}
	})
	return out
}

func (h *history) handedOver() (n int) {
	for _, rec := range h.leases {
		if rec.handed {
			n++
		}
	}
	return n
}

func newHistory(p *plan, pl plant, trace func(string)) *history {
	h := &history{
		plan: p, plant: pl, began: time.Now(), trace: trace,
		regs: make(map[string]*register), logs: make(map[string]*acquireLog), violated: make(map[string]int),
		buried: make(map[grave]bool), keepers: make(map[string][]string), changed: make(chan struct{}), turns: make(map[string]*turn),
		processes: make(map[string]int),
	}
	for i, rate := range p.rates {
		opts := []locktest.ServerOption{locktest.WithRate(rate), locktest.WithNamed(h.notesNamings())}
		if !p.fresh {
			opts = append(opts, locktest.WithUptime(time.Hour))
		}
		if p.aof {
			opts = append(opts, locktest.WithAppendOnly())
		}
		if trace != nil {
			opts = append(opts, locktest.WithWatch(func(e locktest.Event) {
				h.log("    %s %s %s", e.Server, e.What,
					e.Detail)
			}))
		}
		s := locktest.NewFakeServer(fmt.Sprintf("n%d", i), opts...)
		if p.vouches == nil && p.change == nil {
			s.Vouch(p.fingerprint())
		}
		h.servers = append(h.servers, s)
	}
	if p.change != nil {
		p.change.prepare(h)
	}
	for i := range p.clients {
		h.clients = append(h.clients, h.newClient(i))
	}
	if pl.prepare != nil {
		pl.prepare(h)
	}
	return h
}

func (h *history) newClient(i int) *client {
	c := &client{index: i, faults: h.plan.clients[i].links, rate: h.plan.clients[i].rate}
	clock := func() time.Duration { return time.Duration(float64(h.now()) * c.rate) }
	members := h.plan.members(i)
	guards := h.newGuards(clock, fingerprintOf(members))
	guards.Wall = func() time.Time { return time.Now().Add(h.plan.clients[i].wall.at(h.now())) }
	var nodes []driver.Node
	for j, s := range h.servers[:members] {
		link := s.ConnectGuarded(h.plan.seed*100+uint64(i*10+j), locktest.Faults{}, guards)
		if err := link.Meet(context.Background()); err != nil {
			panic(err)
		}
		c.links = append(c.links, link)
		var n driver.BlockingNode = &recorder{BlockingNode: link, h: h, client: i, node: j}
		if h.plan.clients[i].observes {
			n = onlooker{link, h}
		}
		if h.plant.wrap != nil {
			n = h.plant.wrap(h, i, n)
		}
		nodes = append(nodes, engine.Async(n))
	}
	var err error
	c.redis, err = engine.NewEngine(nodes,
		engine.WithClock(clock),
		engine.WithRandom(seededJitter(h.plan.seed, uint64(i))),
		lock.WithInstance(fmt.Sprintf("c%d", i)), lock.WithNodeTimeout(simNodeTimeout),
		lock.WithMaxTTL(simMaxTTL), lock.WithDefaults(lock.TTL(simMaxTTL)),
		lock.WithPollInterval(h.plan.clients[i].poll))
	if err != nil {
		panic(err)
	}
	c.locker = c.redis
	if h.plant.serve != nil {
		c.locker = h.plant.serve(c.redis)
	}
	return c
}

// newGuards keeps restarted nodes silent in sets of any size: the promise of the option.
func (h *history) newGuards(clock engine.Clock, f guard.Fingerprint) *locktest.Guards {
	g := locktest.NewGuards(clock, simQuarantine, h.plant.quarantine >= 0, f)
	if h.plant.quarantine > 0 {
		g.Quarantine = h.plant.quarantine
	}
	if h.plant.guards != nil {
		h.plant.guards(g)
	}
	return g
}

// happen runs the history to its end and checks it.
func (h *history) happen() {
	h.age()
	var work, faults sync.WaitGroup
	for i := range h.plan.nodes {
		faults.Go(func() { h.nodeFaults(i) })
	}
	faults.Go(h.vouch)
	faults.Go(h.reconfigure)
	faults.Go(h.die)
	for i, a := range h.plan.revokes {
		faults.Go(func() { h.revoke(i, a) })
	}
	for i, c := range h.plan.clients {
		for j := range h.clients[i].links {
			faults.Go(func() { h.linkFaults(i, j) })
		}
		for w, ops := range c.workers {
			work.Go(func() { h.worker(i, w, ops) })
		}
	}
	stop := make(chan struct{})
	var probing sync.WaitGroup
	probing.Go(func() { h.probe(stop) })
	watching := h.watch(stop)
	work.Wait()
	faults.Wait()
	h.heal()
	h.checkLiveness()
	h.checkPermits()
	close(stop)
	probing.Wait()
	watching.Wait()
	h.revive()
	h.checkQuiescence()
	h.checkUntouched()
	for _, c := range h.clients {
		if err := c.redis.Close(); err != nil {
			h.violate("Close of client %d: %v", c.index, err)
		}
	}
	for _, s := range h.servers {
		s.Close()
	}
	h.checkOrder()
	h.checkSightings()
	h.checkHoldings()
	h.checkLeases()
	h.checkMinHolds()
}

// age lets the connections grow old before any fault, and lets each client see a vote of every server over them. A
// client that has not met a server lately cannot detect that its clock has stepped since.
func (h *history) age() {
	if h.plan.steps {
		time.Sleep(2 * time.Hour)
		for _, i := range h.alive() {
			lease, err := h.clients[i].redis.Acquire(context.Background(), "before", lock.NoRenew())
			if err != nil {
				panic(err)
			}
			time.Sleep(time.Millisecond)
			_ = lease.Release(context.Background())
			time.Sleep(time.Millisecond)
		}
	}
	for _, c := range h.clients {
		for j := range c.links {
			h.setFaults(c, j, c.faults[j])
		}
	}
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) log(format string, args ...any) {
	if h.trace != nil {
		h.trace(fmt.Sprintf("%12v  ", h.now()) + fmt.Sprintf(format, args...))
	}
}

// mostViolations of each invariant keep a report readable.
const mostViolations = 3

func (h *history) violate(format string, args ...any) {
	text := fmt.Sprintf("at %v: ", h.now()) + fmt.Sprintf(format, args...)
	h.log("VIOLATION %s", text)
	h.mu.Lock()
	defer h.mu.Unlock()
	invariant, _, _ := strings.Cut(format, " ")
	if h.violated[invariant]++; h.violated[invariant] <= mostViolations {
		h.violations = append(h.violations, text)
	}
}

// seededJitter makes the waits of a client repeatable by seed.
func seededJitter(seed, client uint64) func(n int64) int64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1000+client))
	return func(n int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Int64N(n)
	}
}

package simulation

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// constructHistories is the number of histories of each construct, constructRaceHistories with the race detector.
const (
	constructHistories     = 2000
	constructRaceHistories = 20
)

// TestSimulationElections: one term is valid at a time, terms rise, a campaign that failed never leads, and an observer
// says nothing that is wrong and changes nothing.
func TestSimulationElections(t *testing.T) { simulateConstruct(t, lock.KindElection) }

// TestSimulationSets: no two sets with a common name are valid, the loss of one lock ends its set, a set that failed
// holds nothing, and locks are released in reverse.
func TestSimulationSets(t *testing.T) { simulateConstruct(t, lock.KindSet) }

// TestSimulationSemaphores: at most k permits are valid, the fences of a slot rise, the permits of a process that died
// come back, and a slot that is free is found.
func TestSimulationSemaphores(t *testing.T) { simulateConstruct(t, lock.KindSemaphore) }

func simulateConstruct(t *testing.T, kind lock.Kind) {
	simulate(t, constructHistories, constructRaceHistories,
		func(seed uint64) (*plan, plant) { return newConstructPlan(seed, kind, scope{}), plant{} })
}

// newConstructPlan is newPlan for clients that use a construct instead of the lock.
func newConstructPlan(seed uint64, kind lock.Kind, s scope) *plan {
	p := newPlan(seed, s)
	r := rand.New(rand.NewPCG(seed, 5))
	p.kind = kind
	if kind == lock.KindSet {
		p.resources = 2 + r.IntN(3)
	}
	p.permits = 1 + r.IntN(3)
	for i := range p.clients {
		for _, ops := range p.clients[i].workers {
			for j := range ops {
				p.adapt(r, &ops[j])
			}
		}
	}
	if !p.calm && chance(r, 0.4) || s.deaths {
		p.death = &death{client: r.IntN(len(p.clients)), after: upTo(r, 2*time.Second)}
	}
	if kind == lock.KindElection {
		watcher := clientPlan{rate: clockRate(r, s.client), poll: time.Second, observes: true}
		watcher.links = slices.Clone(p.clients[0].links)
		watcher.breaks = make([]timeline, len(watcher.links))
		p.clients = append(p.clients, watcher)
	}
	return p
}

// adapt makes an op on a lock one on a construct.
func (p *plan) adapt(r *rand.Rand, o *op) {
	o.extend = 0
	switch p.kind {
	case lock.KindElection:
		o.run = chance(r, 0.3)
		if o.cancel == 0 { // nothing else bounds a campaign
			o.cancel = 1 + upTo(r, 5*time.Second)
		}
	case lock.KindSet:
		all := r.Perm(p.resources)
		o.resource, o.more = all[0], all[1:1+r.IntN(min(p.resources, 3))]
	}
}

// atRest is an op after all faults have ended.
func (p *plan) atRest(res int) *op {
	o := &op{resource: res, ttl: simMaxTTL, hold: 5 * time.Millisecond, text: " at the end",
		options: []lock.AcquireOption{lock.TTL(simMaxTTL), lock.MaxWait(atRestBound)}}
	switch p.kind {
	case lock.KindElection:
		o.cancel = atRestBound
	case lock.KindSet: // all locks, in another order each time
		for i := range p.resources - 1 {
			o.more = append(o.more, (res+1+i)%p.resources)
		}
	}
	return o
}

// atRestBound is how long a caller waits for anything once all faults have ended.
const atRestBound = simMaxTTL + 10*time.Second

// death is the end of a client's process: nothing that it sends or hears arrives any more. What was on its way may.
type death struct {
	client int
	after  time.Duration
}

func (h *history) die() {
	d := h.plan.death
	if d == nil {
		return
	}
	time.Sleep(d.after)
	h.log("    c%d dies", d.client)
	c := h.clients[d.client]
	h.mu.Lock()
	c.dead = true
	h.mu.Unlock()
	for node := range c.links {
		h.setFaults(c, node, c.faults[node])
	}
}

// alive are the clients that can acquire something.
func (h *history) alive() (all []int) {
	for i, c := range h.clients {
		if h.mayAcquire(c) {
			all = append(all, i)
		}
	}
	return all
}

func (h *history) mayAcquire(c *client) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !c.dead && !h.plan.clients[c.index].observes && h.plan.members(c.index) == h.plan.members(0)
}

// revive lets the dead be heard again, so that they can end.
func (h *history) revive() {
	for _, c := range h.clients {
		h.mu.Lock()
		dead := c.dead
		c.dead = false
		h.mu.Unlock()
		for node := range c.links {
			if dead {
				h.setFaults(c, node, (&plan{calm: true}).linkFaults(nil))
			}
		}
	}
}

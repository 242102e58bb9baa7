//go:build linux

// Package nemesis does to clients, nodes and the network between them what a production
// system has to live with, by a plan that a seed determines. What package lock's promise
// does not cover is not in the plan: README.md of the module has the table.
package nemesis

import (
	"math/rand/v2"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
)

// Fault is one thing that is done, as the plan has it.
type Fault struct {
	Kind  Kind
	At    time.Duration // since the campaign began
	For   time.Duration // until it is mended
	Links []Link
	Node  int // of kinds that are about a node
	Other int // the node it has to do with, or how many members there are from then on
	// Client is of kinds that are about a process.
	Client int
	Amount int64 // its meaning is the kind's
}

// Link is the way from a client to a node.
type Link struct{ Client, Node int }

const (
	// firstFault leaves the clients time to connect.
	firstFault = 1500 * time.Millisecond
	// silence is for how long a node that may have forgotten does not vote, and then some.
	silence = 17 * time.Second
	// changeTime is what a change of the members takes, with all that follows.
	changeTime = 26 * time.Second
	// calm is what no fault outlasts: the campaign ends with everything mended.
	calm = 1500 * time.Millisecond
)

// Tempo says how often a fault begins.
type Tempo struct {
	Mean, Longest time.Duration // of the time between the beginnings of two
	// SameMembers leaves the members as they are: a change of them replaces all client processes.
	SameMembers bool
}

// Storm is the tempo of a campaign: several faults at a time.
var Storm = Tempo{Mean: 1200 * time.Millisecond, Longest: 3 * time.Second}

// Every is the tempo of a soak.
func Every(d time.Duration) Tempo { return Tempo{Mean: d, Longest: 5 * d / 2, SameMembers: true} }

// planner keeps faults apart that would undo one another, or exceed the promise.
type planner struct {
	rand   *rand.Rand
	size   site.Size
	length time.Duration
	tempo  Tempo
	now    time.Duration
	faults []Fault

	links   map[Link]time.Duration // until when something is done to it
	nodes   []time.Duration
	clients []time.Duration
	silent  []time.Duration // until when a node does not vote

	members  int
	changes  []time.Duration // instants at which members change, those to come
	changing time.Duration   // until when such a change goes on
}

// NewPlan is what will be done to a site in so much time. The same seed, size, time and tempo
// make the same plan.
func NewPlan(seed uint64, size site.Size, length time.Duration, tempo Tempo) []Fault {
	p := &planner{
		rand: rand.New(rand.NewPCG(seed, 0)), size: size, length: length, tempo: tempo, members: size.Members,
		links: make(map[Link]time.Duration), nodes: make([]time.Duration, size.Nodes),
		clients: make([]time.Duration, size.Clients),
		silent:  make([]time.Duration, size.Nodes),
	}
	if !tempo.SameMembers {
		p.changes = memberChanges(length)
	}
	for p.now = firstFault; p.now < length-calm; p.now += p.gap() {
		if len(p.changes) > 0 && p.now >= p.changes[0] {
			p.changeMembers()
			continue
		}
		p.draw()
	}
	return p.faults
}

// memberChanges are two for each half of a long campaign, one in a short one, and none in
// one that is over before a quarantine is.
func memberChanges(length time.Duration) []time.Duration {
	switch {
	case length < 50*time.Second:
		return nil
	case length < 8*time.Minute:
		return []time.Duration{length * 4 / 10}
	default:
		return []time.Duration{length * 2 / 10, length * 35 / 100, length * 6 / 10, length * 8 / 10}
	}
}

func (p *planner) gap() time.Duration {
	return min(time.Duration(p.rand.ExpFloat64()*float64(p.tempo.Mean))+50*time.Millisecond, p.tempo.Longest)
}

// draw plans a fault of some kind. Where what it needs is taken, another is drawn.
func (p *planner) draw() {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	for range 20 {
		at := p.rand.IntN(total)
		for i := range kinds {
			if at -= kinds[i].weight; at < 0 {
				if f, ok := kinds[i].plan(p); ok {
					f.Kind, f.At = kinds[i].name, p.now
					p.faults = append(p.faults, f)
					return
				}
				break
			}
		}
	}
}

// changeMembers goes from five to three or back. Nothing is done to a node or a process
// meanwhile: a process that has the old configuration has to be stopped before a node is
// emptied.
func (p *planner) changeMembers() {
	if !p.settled() {
		return // a little later
	}
	p.changes = p.changes[1:]
	if p.members == p.size.Nodes {
		p.members = p.size.Nodes - 2
	} else {
		p.members = p.size.Nodes
	}
	f := Fault{Kind: Members, At: p.now, For: changeTime, Other: p.members, Client: p.rand.IntN(p.size.Clients)}
	p.changing = p.now + changeTime
	for i := range p.nodes {
		p.nodes[i], p.silent[i] = p.changing, max(p.silent[i], p.now+silence)
	}
	for i := range p.clients {
		p.clients[i] = p.changing
	}
	p.faults = append(p.faults, f)
}

// settled reports that nothing is being done to nodes and processes.
func (p *planner) settled() bool {
	for _, until := range append(append([]time.Duration(nil), p.nodes...), p.clients...) {
		if until > p.now {
			return false
		}
	}
	return true
}

// waits reports that a change of the members is due: nothing new is begun that it would have to wait for.
func (p *planner) waits() bool { return len(p.changes) > 0 && p.now >= p.changes[0]-2*time.Second }

// lasting draws how long a fault lasts. It fails if it would not be over in time.
func (p *planner) lasting(least, most time.Duration) (time.Duration, bool) {
	d := least + time.Duration(p.rand.Int64N(int64(most-least)+1))
	return d, p.now+d < p.length-calm
}

// mayImpair reports that enough nodes are left to vote if one more does not, or that this
// time it is to be seen what happens if not: safety needs no quorum, but a campaign in
// which nobody gets a lock shows little.
func (p *planner) mayImpair(node int) bool {
	impaired := 0
	for i, until := range p.nodes[:p.members] {
		if i != node && (until > p.now || p.silent[i] > p.now) {
			impaired++
		}
	}
	return impaired < (p.members-1)/2 || p.length >= 3*time.Minute && p.rand.IntN(20) == 0
}

// freeNode takes a node to which nothing is being done.
func (p *planner) freeNode(d time.Duration) (int, bool) {
	i := p.rand.IntN(p.members)
	if p.nodes[i] > p.now || p.waits() || !p.mayImpair(i) {
		return 0, false
	}
	p.nodes[i] = p.now + d + time.Second
	return i, true
}

// forgetful takes a node that will not vote for a while.
func (p *planner) forgetful(d time.Duration) (int, bool) {
	i, ok := p.freeNode(d)
	if ok {
		p.silent[i] = p.now + d + silence
	}
	return i, ok
}

func (p *planner) freeClient(d time.Duration) (int, bool) {
	i := p.rand.IntN(p.size.Clients)
	if p.clients[i] > p.now || p.waits() {
		return 0, false
	}
	p.clients[i] = p.now + d + time.Second
	return i, true
}

// freeLinks takes links to which nothing is being done: one of them, all of a client, all
// of a node, or those of a client to most of its nodes.
func (p *planner) freeLinks(d time.Duration) (links []Link, ok bool) {
	client, node := p.rand.IntN(p.size.Clients), p.rand.IntN(p.members)
	whole := p.mayImpair(node)
	switch shape := p.rand.IntN(5); {
	case shape < 2 || shape == 2 && !whole:
		links = append(links, Link{client, node})
	case shape == 2:
		for c := range p.size.Clients {
			links = append(links, Link{c, node})
		}
	case shape == 3:
		for n := range p.members {
			links = append(links, Link{client, n})
		}
	default:
		for _, n := range p.rand.Perm(p.members)[:p.members/2+1] {
			links = append(links, Link{client, n})
		}
	}
	for _, l := range links {
		if p.links[l] > p.now {
			return nil, false
		}
	}
	for _, l := range links {
		p.links[l] = p.now + d + 100*time.Millisecond
	}
	return links, true
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const (
	pingEvery   = 2 * time.Second
	votesEvery  = 5 * time.Second
	pingTimeout = time.Second
	// connectTimeout is that of a ping that may have to connect first.
	connectTimeout = inspect.DialTimeout + pingTimeout
)

// pings knows how the servers have answered over the last minute.
type pings struct {
	services guard.Config // what their guards accept

	mu    sync.Mutex
	sets  []set
	seen  map[string]*health     // by name; a map is replaced, not changed
	votes map[string]fleet.Votes // of each set
}

// set is the nodes that vote together, or a system beside Redis.
type set struct {
	name  string // empty: there is no other
	nodes []servers.Node
	other pinged // in place of nodes
}

// setsOf are those of the groups.
func setsOf(all config.Groups) (sets []set) {
	for i, name := range all.Sets() {
		one := set{name: name, nodes: all[i].Nodes}
		if all[i].System != nil {
			one.other = all[i].System
		}
		sets = append(sets, one)
	}
	return sets
}

// each calls do with each server of a set.
func (s *set) each(do func(node string)) {
	for _, n := range s.nodes {
		do(n.Name)
	}
	if s.other != nil {
		do(s.other.Node())
	}
}

// pinged is a system beside Redis.
type pinged interface {
	Node() string
	Ping(ctx context.Context) error
}

type health struct {
	calls    []ping // oldest first
	pinger   servers.Pinger
	known    decorate.NodeHealth
	err      error // of the last call
	answered time.Time
	standing guard.Standing // as askVotes found it

	noInfo, noMarker bool // the user may not read it; askVotes' own
}

type ping struct {
	at   time.Time
	took time.Duration
	ok   bool
}

func newPings(services guard.Config, sets ...set) *pings {
	p := &pings{services: services}
	p.follow(sets...)
	return p
}

// follow pings the servers of these sets from now on, and keeps what is known of those of the same name.
func (p *pings) follow(sets ...set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.seen
	p.sets, p.seen = sets, make(map[string]*health)
	for i := range sets {
		sets[i].each(func(node string) {
			if p.seen[node] = before[node]; p.seen[node] == nil {
				p.seen[node] = &health{}
			}
		})
	}
}

// followed are the sets, and what is known of their nodes.
func (p *pings) followed() ([]set, map[string]*health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sets, p.seen
}

// loop pings all servers until ctx ends. A system beside Redis that hangs delays no ping of a node.
func (p *pings) loop(ctx context.Context) {
	var looping sync.WaitGroup
	looping.Go(func() { repeat(ctx, pingEvery, p.round) })
	looping.Go(func() { repeat(ctx, pingEvery, p.roundOfOthers) })
	looping.Go(func() { repeat(ctx, votesEvery, p.askVotes) })
	looping.Wait()
}

func repeat(ctx context.Context, every time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

func (p *pings) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	sets, seen := p.followed()
	var nodes []servers.Node
	for _, s := range sets {
		nodes = append(nodes, s.nodes...)
	}
	atOnce(nodes, func(n servers.Node) {
		p.measure(n.Name, func() error { return seen[n.Name].pinger.Ping(ctx, n.Client) })
	})
}

// roundOfOthers leaves time to connect: an ensemble may have a server that hangs.
func (p *pings) roundOfOthers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	sets, _ := p.followed()
	atOnce(sets, func(s set) {
		if s.other != nil {
			p.measure(s.other.Node(), func() error { return s.other.Ping(ctx) })
		}
	})
}

// atOnce calls do for all at the same time, and waits for them.
func atOnce[T any](all []T, do func(T)) {
	var asking sync.WaitGroup
	for _, one := range all {
		asking.Go(func() { do(one) })
	}
	asking.Wait()
}

func (p *pings) measure(name string, ask func() error) {
	began := time.Now()
	err := ask()
	p.note(name, ping{began, time.Since(began), err == nil}, err)
}

func (p *pings) note(node string, one ping, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.seen[node]
	if h == nil {
		return // it is followed no more
	}
	h.err = err
	h.known.Done(one.at, locktrace.NodeEnd{Err: servers.Silence(err)})
	if one.ok {
		h.answered = one.at
	}
	old := one.at.Add(-decorate.NodesFor)
	h.calls = append(slices.DeleteFunc(h.calls, func(c ping) bool { return c.at.Before(old) }), one)
}

func (p *pings) state(now time.Time) []state.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	nodes := make([]state.Node, 0, len(p.seen))
	for _, s := range p.sets {
		s.each(func(node string) {
			n := p.seen[node].state(node, now)
			n.Backend = s.name
			nodes = append(nodes, n)
		})
	}
	return nodes
}

func (h *health) state(name string, now time.Time) state.Node {
	v := h.known.View(now)
	n := state.Node{Name: name, Up: v.State.Votes(), State: string(v.State), Calls: len(h.calls)}
	var took []time.Duration
	for _, c := range h.calls {
		if c.ok {
			took = append(took, c.took)
		} else {
			n.Failures++
		}
	}
	slices.Sort(took)
	if len(took) > 0 {
		n.P50, n.P99 = took[len(took)/2].Seconds(), took[len(took)*99/100].Seconds()
	}
	if !h.answered.IsZero() {
		quiet := now.Sub(h.answered).Seconds()
		n.Quiet = &quiet
	}
	if h.err != nil {
		n.Error = h.err.Error()
	}
	switch {
	case !n.Up:
	case h.standing.Quarantined:
		n.Up, n.State = false, state.NodeQuarantined
		n.Error = "restarted or wiped: it may have forgotten locks, and does not vote yet"
	case h.standing.Err != nil:
		n.Up, n.State, n.Error = false, state.NodeBarred, h.standing.Err.Error()
	}
	return n
}

var errNoNode = errors.New("no server answers")

// ready is nil once a server has answered the last ping; it says nothing of how many:
// a page about servers that are down is wanted then above all. Else it says why each did
// not.
func (p *pings) ready(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	why, answers := []error{errNoNode}, false
	for _, s := range p.sets {
		s.each(func(node string) {
			h := p.seen[node]
			answers = answers || h.err == nil && len(h.calls) > 0
			if h.err != nil {
				why = append(why, fmt.Errorf("%s: %w", node, h.err))
			}
		})
	}
	if answers {
		return nil
	}
	return errors.Join(why...)
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const (
	pingEvery   = 2 * time.Second
	pingTimeout = time.Second
	// connectTimeout is that of a ping that may have to connect first.
	connectTimeout = inspect.DialTimeout + pingTimeout
)

// pings knows how the servers have answered over the last minute.
type pings struct {
	mu     sync.Mutex
	nodes  []servers.Node
	others []pinged
	sets   int                // that the nodes belong to
	seen   map[string]*health // by name; a map is replaced, not changed
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
	standing guard.Standing // at the last listing
}

type ping struct {
	at   time.Time
	took time.Duration
	ok   bool
}

func newPings(nodes []servers.Node, sets int, others ...pinged) *pings {
	p := &pings{}
	p.follow(nodes, sets, others...)
	return p
}

// follow pings these servers from now on, and keeps what is known of those of the same name.
func (p *pings) follow(nodes []servers.Node, sets int, others ...pinged) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.seen
	p.nodes, p.sets, p.others, p.seen = nodes, sets, others, make(map[string]*health)
	for _, name := range p.names() {
		if p.seen[name] = before[name]; p.seen[name] == nil {
			p.seen[name] = &health{}
		}
		p.seen[name].standing = guard.Standing{} // several sets are not asked again
	}
}

// names are those of all servers. It expects p.mu to be held.
func (p *pings) names() (names []string) {
	for _, n := range p.nodes {
		names = append(names, n.Name)
	}
	for _, o := range p.others {
		names = append(names, o.Node())
	}
	return names
}

// systemsOf are those of the groups.
func systemsOf(all config.Groups) (others []pinged) {
	for _, g := range all.Systems() {
		others = append(others, g.System)
	}
	return others
}

// loop pings all servers until ctx ends. A system beside Redis that hangs delays no ping of a node.
func (p *pings) loop(ctx context.Context) {
	var looping sync.WaitGroup
	looping.Go(func() { repeat(ctx, p.round) })
	looping.Go(func() { repeat(ctx, p.roundOfOthers) })
	looping.Wait()
}

func repeat(ctx context.Context, do func(context.Context)) {
	ticker := time.NewTicker(pingEvery)
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
	p.mu.Lock()
	nodes, seen := p.nodes, p.seen
	p.mu.Unlock()
	atOnce(nodes, func(n servers.Node) {
		p.measure(n.Name, func() error { return seen[n.Name].pinger.Ping(ctx, n.Client) })
	})
}

// roundOfOthers leaves time to connect: an ensemble may have a server that hangs.
func (p *pings) roundOfOthers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	p.mu.Lock()
	others := p.others
	p.mu.Unlock()
	atOnce(others, func(o pinged) { p.measure(o.Node(), func() error { return o.Ping(ctx) }) })
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
	names := p.names()
	nodes := make([]state.Node, 0, len(names))
	for _, name := range names {
		nodes = append(nodes, p.seen[name].state(name, now))
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
	if n.Up && h.standing.Quarantined {
		n.Up, n.State = false, state.NodeQuarantined
		n.Error = "restarted or wiped: it may have forgotten locks, and does not vote yet"
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
	why := []error{errNoNode}
	for _, name := range p.names() {
		h := p.seen[name]
		if h.err == nil && len(h.calls) > 0 {
			return nil
		}
		if h.err != nil {
			why = append(why, fmt.Errorf("%s: %w", name, h.err))
		}
	}
	return errors.Join(why...)
}

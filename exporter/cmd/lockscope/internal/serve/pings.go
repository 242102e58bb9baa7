package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/exporter/live"
)

const (
	pingEvery   = 2 * time.Second
	pingTimeout = time.Second
)

// pings knows how the nodes have answered over the last minute.
type pings struct {
	mu    sync.Mutex
	nodes []target.Node
	sets  int                // that the nodes belong to
	seen  map[string]*health // by node
}

type health struct {
	calls    []ping // oldest first
	refused  bool   // PING is not the user's to send
	err      error  // of the last call
	answered time.Time
}

type ping struct {
	at   time.Time
	took time.Duration
	ok   bool
}

func newPings(nodes []target.Node, sets int) *pings {
	p := &pings{}
	p.follow(nodes, sets)
	return p
}

// follow pings these nodes from now on, and keeps what is known of those of the same name.
func (p *pings) follow(nodes []target.Node, sets int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := make(map[string]*health, len(nodes))
	for _, n := range nodes {
		if seen[n.Name] = p.seen[n.Name]; seen[n.Name] == nil {
			seen[n.Name] = &health{}
		}
	}
	p.nodes, p.sets, p.seen = nodes, sets, seen
}

// loop pings all nodes until ctx ends.
func (p *pings) loop(ctx context.Context) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		p.round(ctx)
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
	nodes := p.nodes
	p.mu.Unlock()
	var asking sync.WaitGroup
	for _, n := range nodes {
		asking.Go(func() {
			began := time.Now()
			err := p.ask(ctx, n)
			p.note(n.Name, ping{began, time.Since(began), err == nil}, err)
		})
	}
	asking.Wait()
}

func (p *pings) note(node string, one ping, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.seen[node]
	if h == nil {
		return // it is followed no more
	}
	h.err = err
	if one.ok {
		h.answered = one.at
	}
	old := one.at.Add(-live.NodesFor)
	h.calls = append(slices.DeleteFunc(h.calls, func(c ping) bool { return c.at.Before(old) }), one)
}

func (p *pings) state(now time.Time) []live.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	nodes := make([]live.Node, 0, len(p.nodes))
	for _, n := range p.nodes {
		nodes = append(nodes, p.seen[n.Name].state(n.Name, now))
	}
	return nodes
}

func (h *health) state(name string, now time.Time) live.Node {
	n := live.Node{Name: name, Up: h.err == nil && len(h.calls) > 0, Calls: len(h.calls)}
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
	return n
}

// ask returns nil if the server answers PING or, if the user may not send that, INFO. A
// refused command is not sent again, because each refusal is a line in the server's ACL LOG.
func (p *pings) ask(ctx context.Context, n target.Node) error {
	p.mu.Lock()
	h := p.seen[n.Name]
	refused := h != nil && h.refused
	p.mu.Unlock()
	if !refused {
		err := n.Client.Ping(ctx).Err()
		if err == nil || !redis.HasErrorPrefix(err, "NOPERM") {
			return err
		}
	}
	err := n.Client.Info(ctx, "server").Err()
	p.mu.Lock()
	defer p.mu.Unlock()
	if h != nil {
		h.refused = err == nil
	}
	if err != nil {
		return fmt.Errorf("%w: grant +ping to this user", err)
	}
	return nil
}

var errNoNode = errors.New("no Redis server answers")

// ready is nil once a node has answered the last ping; it says nothing of how many:
// a page about servers that are down is wanted then above all. Else it says why each did
// not.
func (p *pings) ready(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	why := []error{errNoNode}
	for _, n := range p.nodes {
		h := p.seen[n.Name]
		if h.err == nil && len(h.calls) > 0 {
			return nil
		}
		if h.err != nil {
			why = append(why, fmt.Errorf("%s: %w", n.Name, h.err))
		}
	}
	return errors.Join(why...)
}

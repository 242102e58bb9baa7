package main

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
	nodes []target.Node

	mu   sync.Mutex
	seen []health // of each node
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

func newPings(nodes []target.Node) *pings {
	return &pings{nodes: nodes, seen: make([]health, len(nodes))}
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
	var asking sync.WaitGroup
	for i, n := range p.nodes {
		asking.Go(func() {
			began := time.Now()
			err := p.ask(ctx, i, n.Client)
			p.note(i, ping{began, time.Since(began), err == nil}, err)
		})
	}
	asking.Wait()
}

func (p *pings) note(i int, one ping, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &p.seen[i]
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
	for i, n := range p.nodes {
		nodes = append(nodes, p.seen[i].state(n.Name, now))
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

// ask is nil if the server answers PING or, if that is not the user's to send, INFO. Once
// it was refused, it is not asked for again: each time is a line in the server's ACL LOG.
func (p *pings) ask(ctx context.Context, i int, c redis.UniversalClient) error {
	p.mu.Lock()
	refused := p.seen[i].refused
	p.mu.Unlock()
	if !refused {
		err := c.Ping(ctx).Err()
		if err == nil || !redis.HasErrorPrefix(err, "NOPERM") {
			return err
		}
	}
	err := c.Info(ctx, "server").Err()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[i].refused = err == nil; err != nil {
		return fmt.Errorf("grant +ping to its user: %w", err)
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
	for i, h := range p.seen {
		if h.err == nil && len(h.calls) > 0 {
			return nil
		}
		if h.err != nil {
			why = append(why, fmt.Errorf("%s: %w", p.nodes[i].Name, h.err))
		}
	}
	return errors.Join(why...)
}

// Package nodes starts the Redis servers of the examples: redis-server processes if redis-server is installed, else
// servers inside this process.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Node is one server on the loopback interface that can be made to hang.
type Node interface {
	// Addr is host:port.
	Addr() string
	// Pause makes the node hang: it accepts what it is sent and answers nothing.
	Pause() error
	// Resume lets a paused node run again. It then handles the commands that piled up.
	Resume() error
	// Stop ends the node for good, also a paused one.
	Stop() error
}

var (
	_ Node = (*redisproc.Server)(nil)
	_ Node = (*embedded)(nil)
)

// Set is a number of independent nodes, all of one kind.
type Set struct {
	nodes []Node
	pids  []int
}

// Start starts n nodes and vouches for them: they are new, so nobody can hold a lock on them, and they may vote at
// once. opts are those of the lockers, where they make another configuration, such as lock.WithMaxTTL. After an error no
// node is left running.
func Start(ctx context.Context, n int, opts ...lock.Option) (*Set, error) {
	if redisproc.Available() != nil {
		return startEmbedded(n)
	}
	servers, err := redisproc.StartN(ctx, n)
	if err != nil {
		return nil, err
	}
	set := new(Set)
	for _, s := range servers {
		set.nodes, set.pids = append(set.nodes, s), append(set.pids, s.PID())
	}
	if err := set.vouch(ctx, opts); err != nil {
		return nil, errors.Join(err, set.Stop())
	}
	return set, nil
}

func (s *Set) vouch(ctx context.Context, opts []lock.Option) error {
	clients := make([]redis.UniversalClient, len(s.nodes))
	for i, n := range s.nodes {
		c := redis.NewClient(&redis.Options{Addr: n.Addr(), ContextTimeoutEnabled: true, DisableIdentity: true})
		defer c.Close()
		clients[i] = c
	}
	return redlock.Vouch(ctx, clients, opts...)
}

// Options returns the options that a lock on these nodes needs. Embedded nodes do not report what the guard checks, and
// cannot restart without this process.
func (s *Set) Options() []lock.Option {
	if s.Embedded() {
		return []lock.Option{redlock.WithoutGuard()}
	}
	return nil
}

// Nodes returns the nodes in a fixed order.
func (s *Set) Nodes() []Node { return s.nodes }

// URLs returns the nodes' addresses as redlock.Open wants them.
func (s *Set) URLs() []string {
	urls := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		urls[i] = "redis://" + n.Addr()
	}
	return urls
}

// Embedded reports whether the nodes run inside this process.
func (s *Set) Embedded() bool { return len(s.pids) == 0 }

// Describe returns lines for the user that describe the nodes.
func (s *Set) Describe() []string {
	ports := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		_, ports[i], _ = strings.Cut(n.Addr(), ":")
	}
	where := "127.0.0.1, ports " + strings.Join(ports, " ")
	if s.Embedded() {
		return []string{
			fmt.Sprintf("%d embedded nodes (miniredis) on %s", len(s.nodes), where),
			"no redis-server was found, so the nodes live in this process: they hang when told to, but",
			"cannot be killed, watched or paused from outside, and their speed is not that of Redis",
			`for the real thing: "apt-get install redis-server" or "brew install redis"`,
		}
	}
	return []string{
		fmt.Sprintf("%d redis-server processes on %s", len(s.nodes), where),
		"their pids: " + strings.Trim(fmt.Sprint(s.pids), "[]"),
	}
}

// Stop stops all nodes concurrently, so that one that must be killed does not delay the others.
func (s *Set) Stop() error {
	errs := make([]error, len(s.nodes))
	var wg sync.WaitGroup
	for i, n := range s.nodes {
		wg.Go(func() { errs[i] = n.Stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

//go:build linux

// Package site is what a campaign runs on: redis-server processes with clocks of their
// own, client processes, and a proxy on every way from a client to a node.
package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/wallclock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Size is how much of everything there is.
type Size struct {
	Nodes, Clients int
	Members        int // how many of the nodes vote at first
}

// Site is all of it. Its fields are not changed after Open.
type Site struct {
	Size
	Nodes []*Node
	// Links lead from each client to each node.
	Links [][]*netfault.Proxy
	Crew  *Crew

	maxTTL time.Duration
}

// Open starts servers and proxies, and lets the first members vote. Clients are started
// with Crew. After an error nothing is left running.
func Open(ctx context.Context, size Size, crew Orders) (_ *Site, err error) {
	s := &Site{Size: size, maxTTL: crew.MaxTTL}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	shimDir := filepath.Join(crew.Dir, "clocks")
	if err := os.MkdirAll(shimDir, 0o700); err != nil {
		return nil, err
	}
	shim, err := wallclock.Build(shimDir)
	if err != nil {
		return nil, err
	}
	for i := range size.Nodes {
		n, err := startNode(ctx, shim, fmt.Sprintf("n%d", i+1))
		if err != nil {
			return nil, err
		}
		s.Nodes = append(s.Nodes, n)
	}
	most, err := mostConnections(size)
	if err != nil {
		return nil, err
	}
	for range size.Clients {
		var links []*netfault.Proxy
		for _, n := range s.Nodes {
			p, err := netfault.Listen(n.Server.Addr())
			if err != nil {
				return nil, err
			}
			p.Limit(most)
			links = append(links, p)
		}
		s.Links = append(s.Links, links)
	}
	s.Crew = newCrew(s, crew, size.Members)
	members, closeMembers := s.Configuration(size.Members)
	defer closeMembers()
	return s, redlock.Vouch(ctx, members.Nodes, members.Options...)
}

// mostConnections is how many connections a link takes: all proxies share the file descriptors of this process, and each
// connection has two.
func mostConnections(size Size) (int, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}
	most := int(files.Cur) * 4 / 5 / (2 * size.Clients * size.Nodes)
	if most < leastConnections {
		return 0, fmt.Errorf("%d open files are too few for %d clients of %d nodes: raise the limit (ulimit -n), or have "+
			"fewer clients", files.Cur, size.Clients, size.Nodes)
	}
	return most, nil
}

// leastConnections leave a client room beside what a fault holds. It has two engines, each with a subscription and at
// least one lane on a node. With four lanes each it has ten connections, and the link refuses those beyond the limit.
const leastConnections = 7

// Configuration is that of the first n nodes, as an operator has it who reaches them
// without a proxy. Its clients are to be closed.
func (s *Site) Configuration(n int) (redlock.Configuration, func()) {
	var c redlock.Configuration
	var clients []*redis.Client
	for _, node := range s.Nodes[:n] {
		client := redis.NewClient(&redis.Options{Addr: node.Server.Addr()})
		clients, c.Nodes = append(clients, client), append(c.Nodes, client)
	}
	c.Options = []lock.Option{lock.WithNodeNames(s.names(n)...), lock.WithMaxTTL(s.maxTTL)}
	return c, func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}
}

func (s *Site) names(n int) (names []string) {
	for _, node := range s.Nodes[:n] {
		names = append(names, node.Name)
	}
	return names
}

// Leftover is a key that is still there when it should not be.
type Leftover struct {
	Node, Key string
	Left      time.Duration // negative if it never expires
}

// AwaitNoLocks returns the locks that are left on the nodes when the time is up, and how
// long it took until there were none. An error is that of nodes that did not answer by then.
func (s *Site) AwaitNoLocks(ctx context.Context, patience time.Duration) (left []Leftover, took time.Duration,
	err error) {
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err = s.locks(ctx)
		if err == nil && len(left) == 0 || time.Since(began) > patience {
			return left, time.Since(began), err
		}
		select {
		case <-ctx.Done():
			return left, time.Since(began), context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (s *Site) locks(ctx context.Context) (left []Leftover, err error) {
	for _, n := range s.Nodes {
		found, failed := n.locks(ctx)
		left, err = append(left, found...), errors.Join(err, failed)
	}
	return left, err
}

// Close ends all that is left of the site.
func (s *Site) Close() (err error) {
	if s.Crew != nil {
		err = s.Crew.StopAll()
	}
	for _, links := range s.Links {
		for _, p := range links {
			err = errors.Join(err, p.Close())
		}
	}
	for _, n := range s.Nodes {
		err = errors.Join(err, n.close())
	}
	return err
}

// Version is that of the servers; "" if they do not say.
func (s *Site) Version(ctx context.Context) string {
	info, err := s.Nodes[0].admin.Info(ctx, "server").Result()
	if err != nil {
		return ""
	}
	return redisinfo.Parse(info)["redis_version"]
}

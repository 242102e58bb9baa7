package top

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// redisSet is the nodes of one Redlock, one server, or one cluster. Only its task uses it, save for suggestions.
type redisSet struct {
	called   string
	timeout  time.Duration
	services guard.Config // what the services' guards accept
	clients  []servers.Node
	cluster  *redis.ClusterClient // nil unless the set is one
	nodes    []*node
	scanner  *scanner.Scanner
	watch    *scanner.Watch
	probes   sync.WaitGroup

	mu        sync.Mutex
	suggested []string
}

// newRedisSet closes the nodes after an error.
func newRedisSet(name string, nodes []servers.Node, globs []string, timeout time.Duration,
	services guard.Config) (*redisSet, error) {
	of, err := scanner.New(servers.Clients(nodes), scanner.WithPatterns(globs...),
		scanner.WithNodeNames(servers.Names(nodes)...))
	if err != nil {
		servers.Release(nodes)
		return nil, err
	}
	s := &redisSet{called: name, timeout: timeout, services: services, clients: nodes, scanner: of, watch: of.Watch(timeout)}
	for _, c := range nodes {
		switch client := c.Client.(type) {
		case *redis.ClusterClient:
			s.cluster = client
		case *redis.Client:
			s.nodes = append(s.nodes, newNode(c.Name, client, timeout))
		}
	}
	return s, nil
}

func (s *redisSet) close() {
	s.probes.Wait()
	_ = s.scanner.Close()
	servers.Release(s.clients)
}

// maxSuggest is how many locks of pages are read before the search finds them.
const maxSuggest = 200

func (s *redisSet) suggest(resources []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suggested = resources[:min(len(resources), maxSuggest)]
}

func (s *redisSet) first() answer {
	set := s.empty()
	set.Err = errNotYet.Error()
	health := make([]health, len(s.nodes))
	for i := range health {
		health[i].err = errNotYet
	}
	set.Nodes = judge(s.nodes, health, s.services, time.Now())
	return set
}

func (s *redisSet) empty() answer {
	return answer{Set: screen.Set{Name: s.called, Redlock: s.cluster == nil && len(s.nodes) > 1}}
}

// read is one refresh.
func (s *redisSet) read(ctx context.Context) answer {
	set := s.empty()
	if err := s.members(ctx); err != nil {
		set.Nodes = []screen.Node{{Name: s.clients[0].Name, State: "down", Why: short(err)}}
		set.Err, set.Read = short(err), time.Now()
		return set
	}
	all := s.probeAll(ctx)
	set.Nodes = judge(s.nodes, all, s.services, time.Now())
	var silent []string
	for i, n := range s.nodes {
		if all[i].err != nil {
			silent = append(silent, n.name)
		}
	}
	s.mu.Lock()
	suggested := s.suggested
	s.mu.Unlock()
	w, err := s.watch.Look(ctx, silent, suggested)
	set.Scan = s.searched(w, all)
	set.Deadlocks = fleet.Deadlocks(w)
	set.waits, set.Omitted = w, w.More
	set.Err = unknown(err, w.Omitted)
	set.Read = time.Now()
	return set
}

// members finds the masters of a cluster.
func (s *redisSet) members(ctx context.Context) error {
	if s.cluster == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	masters, err := diagnosis.Masters(ctx, s.cluster)
	if err != nil && len(s.nodes) > 0 {
		return nil // those that were known are asked
	}
	s.nodes = slices.DeleteFunc(s.nodes, func(n *node) bool {
		return !slices.ContainsFunc(masters, func(m diagnosis.Node) bool { return m.Client == n.client })
	})
	for _, m := range masters {
		if !slices.ContainsFunc(s.nodes, func(n *node) bool { return n.name == m.Name }) {
			n := newNode(m.Name, m.Client, s.timeout)
			n.cluster = true
			s.nodes = append(s.nodes, n)
		}
	}
	slices.SortFunc(s.nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return err
}

// probeAll probes all nodes, and waits for those that answered the last time: a node that hangs is waited for once.
func (s *redisSet) probeAll(ctx context.Context) []health {
	all := make([]health, len(s.nodes))
	for _, n := range s.nodes {
		n.probing.start(ctx, &s.probes)
	}
	for i, n := range s.nodes {
		if last, _ := n.probing.latest(); last.err == nil || errors.Is(last.err, errNotYet) {
			n.probing.wait(ctx)
		}
		all[i], _ = n.probing.latest()
	}
	return all
}

// searched is how far the search is: on the node that is furthest behind, among those that answer.
func (s *redisSet) searched(w *listing.Waits, all []health) (scan screen.Scan) {
	first := true
	for i, n := range s.nodes {
		at := slices.IndexFunc(w.Searched, func(s listing.Search) bool { return s.Node == n.name })
		if at < 0 || all[i].err != nil {
			continue
		}
		on := &w.Searched[at]
		keys, _, _ := redisinfo.Parse(all[i].said.Info).Keyspace(n.client.Options().DB)
		done, took := 1.0, on.Took
		if !on.Began.IsZero() {
			done = min(0.99, float64(on.Keys)/float64(max(keys, 1)))
			if took == 0 && done > 0 {
				took = time.Duration(float64(time.Since(on.Began)) / done)
			}
		}
		scan.Keys, scan.PassTime = max(scan.Keys, keys), max(scan.PassTime, took)
		if first || done < scan.Done {
			scan.Done = done
		}
		if first || on.Ended.Before(scan.Last) {
			scan.Last = on.Ended
		}
		first = false
	}
	return scan
}

// unknown is why some waiters are, in one line.
func unknown(err error, omitted bool) string {
	var why []string
	if err := fleet.QueuesErr(&listing.Waits{Err: err}); err != nil {
		why = strings.Split(strings.ReplaceAll(err.Error(), "scanner: node ", ""), "\n")
	}
	if omitted {
		why = append(why, fmt.Sprintf("more than %d locks have waiters, and the others are not counted", maxQueues))
	}
	return strings.Join(why, "; ")
}

// maxQueues is how many locks a scanner.Watch knows.
const maxQueues = 500

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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// secondLook is how long after a cycle was seen it must still be there to be a deadlock.
const secondLook = 150 * time.Millisecond

// redisSet is the nodes of one Redlock, one server, or one cluster. Only its task uses it, save for suggestions.
type redisSet struct {
	called   string
	prefixes []string // of lock keys
	timeout  time.Duration
	clients  []servers.Node
	cluster  *redis.ClusterClient // nil unless the set is one
	nodes    []*node
	queues   queues
	watch    waitgraph.Watch
	probes   sync.WaitGroup

	mu        sync.Mutex
	suggested []string
	failed    map[asker]error // of the refresh under way
}

func newRedisSet(name string, clients []servers.Node, prefixes []string, timeout time.Duration) *redisSet {
	s := &redisSet{called: name, prefixes: prefixes, timeout: timeout, clients: clients,
		queues: queues{seen: make(map[string]time.Time)}}
	for _, c := range clients {
		switch client := c.Client.(type) {
		case *redis.ClusterClient:
			s.cluster = client
		case *redis.Client:
			s.nodes = append(s.nodes, newNode(c.Name, client, timeout))
		}
	}
	return s
}

func (s *redisSet) name() string { return s.called }

func (s *redisSet) close() {
	s.probes.Wait()
	servers.Release(s.clients)
}

func (s *redisSet) suggest(resources []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suggested = resources[:min(len(resources), maxSuggest)]
}

func (s *redisSet) first() screen.Set {
	set := screen.Set{Name: s.called, Redlock: s.cluster == nil && len(s.nodes) > 1, Err: errNotYet.Error()}
	health := make([]health, len(s.nodes))
	for i := range health {
		health[i].err = errNotYet
	}
	set.Nodes = judge(s.nodes, health, set.Redlock, time.Now())
	return set
}

// read is one refresh.
func (s *redisSet) read(ctx context.Context) screen.Set {
	s.failed = make(map[asker]error)
	set := screen.Set{Name: s.called, Redlock: s.cluster == nil && len(s.nodes) > 1}
	if err := s.members(ctx); err != nil {
		set.Nodes = []screen.Node{{Name: s.clients[0].Name, State: "down", Why: short(err)}}
		set.Err, set.Read = short(err), time.Now()
		return set
	}
	all := s.probeAll(ctx)
	set.Nodes = judge(s.nodes, all, set.Redlock, time.Now())
	ask := s.askers(all)
	s.searchAll(ctx, all, &set.Scan)
	waits := s.look(ctx, ask)
	waits.Deadlocks = s.watch.Deadlocks(waits.Graph)
	if s.watch.Suspects() && len(waits.Deadlocks) == 0 && ui.Pause(ctx, secondLook) {
		waits = s.look(ctx, ask)
		waits.Deadlocks = s.watch.Deadlocks(waits.Graph)
	}
	set.Deadlocks = fleet.Deadlocks(waits.Waits)
	set.Resources, set.Omitted = resources(s.called, waits), waits.omitted
	set.Err = s.unread(waits)
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
	var mu sync.Mutex
	masters := make(map[string]*redis.Client)
	err := s.cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters[c.Options().Addr] = c
		return nil
	})
	if err != nil && len(s.nodes) > 0 {
		return nil // those that were known are asked
	}
	s.nodes = slices.DeleteFunc(s.nodes, func(n *node) bool { return masters[n.name] != n.client })
	for address, c := range masters {
		if !slices.ContainsFunc(s.nodes, func(n *node) bool { return n.name == address }) {
			n := newNode(address, c, s.timeout)
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

func (s *redisSet) askers(all []health) (ask []asker) {
	if s.cluster != nil {
		return []asker{{cmd: s.cluster}}
	}
	for i, n := range s.nodes {
		if all[i].err == nil {
			ask = append(ask, asker{n.client, n})
		}
	}
	return ask
}

// each asks all nodes at the same time, with the node timeout, and remembers the failures.
func (s *redisSet) each(ctx context.Context, ask []asker, what string, do func(ctx context.Context, i int) error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var asking sync.WaitGroup
	for i := range ask {
		asking.Go(func() {
			if err := do(ctx, i); err != nil {
				s.fail(ask[i], what, err)
			}
		})
	}
	asking.Wait()
}

func (s *redisSet) fail(at asker, what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.called
	if at.node != nil {
		name = at.node.name
	}
	if s.failed[at] == nil {
		s.failed[at] = fmt.Errorf("%s: %s: %w", name, what, redisconn.Scrub(err))
	}
}

// searchAll searches some more keys of each node that answers.
func (s *redisSet) searchAll(ctx context.Context, all []health, scan *screen.Scan) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	found, errs := make([][]string, len(s.nodes)), make([]error, len(s.nodes))
	var searching sync.WaitGroup
	for i, n := range s.nodes {
		if all[i].err == nil {
			searching.Go(func() { found[i], errs[i] = n.search.step(ctx, n) })
		}
	}
	searching.Wait()
	now, first := time.Now(), true
	for i, n := range s.nodes {
		if errs[i] != nil {
			s.fail(asker{n.client, n}, "find queues", errs[i])
		}
		if all[i].err == nil {
			n.search.progress(scan, all[i].info, n.client.Options().DB, first)
			first = false
		}
		for _, key := range found[i] {
			if s.isOurs(key) {
				s.queues.add(key, now)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range s.suggested {
		s.queues.add(s.prefixes[0]+resource, now)
	}
}

// waits are queues and holders of one look.
type waits struct {
	*listing.Waits
	omitted int
}

func (s *redisSet) look(ctx context.Context, ask []asker) waits {
	now := time.Now()
	all := s.measure(ctx, ask)
	for _, l := range all {
		s.queues.seen[l.key] = now
	}
	s.queues.forget(now)
	shown := most(all, now)
	w := &listing.Waits{Locks: s.readQueues(ctx, ask, shown), At: now}
	of := len(s.nodes)
	if s.cluster != nil {
		of = 1
	}
	s.readLocks(ctx, ask, w.Locks, of)
	w.Graph = listing.Graph(w.Locks)
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, err := range s.failed {
		errs = append(errs, err)
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	w.Err = errors.Join(errs...)
	return waits{w, len(all) - len(shown)}
}

// unread is why some waiters are unknown, in one line.
func (s *redisSet) unread(w waits) string {
	var why []string
	if err := fleet.QueuesErr(w.Waits); err != nil {
		why = strings.Split(err.Error(), "\n")
	}
	if s.queues.omitted {
		why = append(why, fmt.Sprintf("more than %d locks have waiters, and the others are not counted", MaxQueues))
	}
	return strings.Join(why, "; ")
}

func (s *redisSet) isOurs(key string) bool {
	return slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// resource is the key without its prefix: of several, the longest.
func (s *redisSet) resource(key string) string {
	cut := 0
	for _, p := range s.prefixes {
		if strings.HasPrefix(key, p) && len(p) < len(key) {
			cut = max(cut, len(p))
		}
	}
	return key[cut:]
}

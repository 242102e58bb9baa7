package scanner_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

// wantQuorum sweeps, whether or not nodes answer, and returns the number of nodes that did.
func wantQuorum(t *testing.T, what string, s *scanner.Scanner, want int) (up int) {
	t.Helper()
	_, _ = s.Sweep(within(t))
	for _, n := range s.Snapshot().Nodes {
		if n.Quorum != want {
			t.Errorf("%s: %s: the quorum is %d, want %d", what, n.Node, n.Quorum, want)
		}
		if n.Up {
			up++
		}
	}
	return up
}

// TestQuorumOutlivesAnOutage: what the markers proved stays known while servers are down, and ends when all of them
// answer and none has a marker.
func TestQuorumOutlivesAnOutage(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	must(t, redlock.Vouch(ctx, f.clients))
	s := newScanner(t, f.clients)
	wantQuorum(t, "proved", s, 2)
	for _, server := range f.servers {
		must(t, server.Kill())
		must(t, server.Wipe())
		wantQuorum(t, "an outage", s, 2)
	}
	wantQuorum(t, "declared in an outage", newScanner(t, f.clients, scanner.WithOneRedlock()), 2)
	wantQuorum(t, "nobody answers", newScanner(t, f.clients), 0)
	for i, server := range f.servers[:2] {
		must(t, server.Restart(ctx))
		eventually(t, "an empty node is back", func() bool { return wantQuorum(t, "two have no marker", s, 2) > i })
	}
	must(t, f.servers[2].Restart(ctx))
	eventually(t, "all are back", func() bool {
		_, err := s.Sweep(ctx)
		return err == nil
	})
	wantQuorum(t, "no marker", s, 0)
}

// TestQuorumOfOthers: servers that are not known to form one Redlock have none, nor have the masters of a cluster.
func TestQuorumOfOthers(t *testing.T) {
	f := startNodes(t, 4)
	wantQuorum(t, "independent", newScanner(t, f.clients), 0)
	wantQuorum(t, "four, declared", newScanner(t, f.clients, scanner.WithOneRedlock()), 3)
	wantQuorum(t, "one, declared", newScanner(t, f.clients[:1], scanner.WithOneRedlock()), 1)
	must(t, redlock.Vouch(within(t), f.clients[:3]))
	wantQuorum(t, "orphans are not looked for", newScanner(t, f.clients[:3], scanner.WithChecks(inspect.NoTTL)), 2)
	s := newScanner(t, f.clients[:3])
	wantQuorum(t, "proved", s, 2)
	must(t, f.clients[2].Del(within(t), "lockscope:life").Err())
	must(t, redlock.Vouch(within(t), f.clients[2:]))
	wantQuorum(t, "one belongs to another Redlock now", s, 0)
	wantQuorum(t, "a part", newScanner(t, f.clients[:2]), 0)
	wantQuorum(t, "etcd", ofSystem(t, &looks{}), 0)
}

// TestQuorumOfACluster: three nodes in its report are one server.
func TestQuorumOfACluster(t *testing.T) {
	c := clusterClient(t, locktest.Cluster(t, 3))
	f := startNodes(t, 2)
	if up := wantQuorum(t, "alone", newScanner(t, []redis.UniversalClient{c}, scanner.WithOneRedlock()), 0); up != 3 {
		t.Errorf("%d masters, want 3", up)
	}
	wantQuorum(t, "with others", newScanner(t, append(f.clients, c), scanner.WithOneRedlock()), 0)
}

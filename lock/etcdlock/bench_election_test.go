package etcdlock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// candidate campaigns, and returns what resigns.
type candidate func() (resign func() error, err error)

// etcdCandidate is etcd's own election.
func etcdCandidate(b *testing.B, servers []string) candidate {
	session, err := concurrency.NewSession(connect(b, servers))
	must(b, err)
	b.Cleanup(func() { _ = session.Close() })
	ctx := context.Background()
	return func() (func() error, error) {
		e := concurrency.NewElection(session, "etcd/election")
		if err := e.Campaign(ctx, "candidate"); err != nil {
			return nil, err
		}
		return func() error { return e.Resign(ctx) }, nil
	}
}

func ourCandidate(b *testing.B, servers []string) candidate {
	l, err := etcdlock.New(connect(b, servers), lock.WithNodeTimeout(time.Second))
	must(b, err)
	b.Cleanup(func() { must(b, l.Close()) })
	ctx := context.Background()
	return func() (func() error, error) {
		term, err := election.Campaign(ctx, l, "election")
		if err != nil {
			return nil, err
		}
		return func() error { return term.Resign(ctx) }, nil
	}
}

// BenchmarkElection compares elections over etcdlock with etcd's own: a campaign and a resignation without contention,
// and a hand-off to a candidate that waits. The two take turns. Run it with -benchtime=100x.
func BenchmarkElection(b *testing.B) {
	servers := cluster(b, 1).Endpoints()
	var alone, handOffs [2][]time.Duration
	var all [2][2]candidate
	for i := range 2 {
		all[0][i], all[1][i] = etcdCandidate(b, servers), ourCandidate(b, servers)
	}
	for b.Loop() {
		for i, c := range all {
			began := time.Now()
			resign, err := c[0]()
			must(b, err)
			must(b, resign())
			alone[i] = append(alone[i], time.Since(began))
			handOffs[i] = append(handOffs[i], handOff(b, c))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	for i, name := range []string{"etcd", "election"} {
		b.ReportMetric(median(alone[i]), name+"-us")
		b.ReportMetric(median(handOffs[i]), name+"-hand-off-us")
	}
	b.ReportMetric(median(alone[1])/median(alone[0]), "x")
	b.ReportMetric(median(handOffs[1])/median(handOffs[0]), "hand-off-x")
}

// handOff is the time from the first candidate's resignation until the second, which waits, leads.
func handOff(b *testing.B, c [2]candidate) time.Duration {
	b.Helper()
	resign, err := c[0]()
	must(b, err)
	led := make(chan time.Time, 1)
	again := make(chan func() error, 1)
	go func() {
		r, err := c[1]()
		if err != nil {
			b.Error(err)
			r = func() error { return nil }
		}
		led <- time.Now()
		again <- r
	}()
	time.Sleep(30 * time.Millisecond) // until it waits
	began := time.Now()
	must(b, resign())
	took := (<-led).Sub(began)
	must(b, (<-again)())
	return took
}

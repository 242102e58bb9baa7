package etcdlock_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// electionTTL is how long etcd keeps the place of a leader that crashed: of the session of etcd's own election, and of
// the lock of ours.
const electionTTL = 5 * time.Second

// candidate is a process that can lead.
type candidate struct {
	campaign func() (resign func() error, err error)
	crash    func() // nothing reaches etcd any more
	requests *atomic.Int64
}

// process is a client that counts its requests. A stream counts as one.
func process(b *testing.B, servers []string) (*clientv3.Client, *atomic.Int64) {
	var requests atomic.Int64
	unary := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		requests.Add(1)
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	stream := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption) (grpc.ClientStream, error) {
		requests.Add(1)
		return open(ctx, desc, cc, method, opts...)
	}
	counting := []grpc.DialOption{grpc.WithChainUnaryInterceptor(unary), grpc.WithChainStreamInterceptor(stream)}
	c, err := clientv3.New(clientv3.Config{
		Endpoints: servers, DialTimeout: 10 * time.Second, DialOptions: counting,
		Logger: zap.NewNop(), // a client that was closed under its process logs each try
	})
	must(b, err)
	b.Cleanup(func() { _ = c.Close() })
	return c, &requests
}

// etcdCandidate is etcd's own election.
func etcdCandidate(b *testing.B, servers []string) candidate {
	client, requests := process(b, servers)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(electionTTL.Seconds())))
	must(b, err)
	ctx := context.Background()
	campaign := func() (func() error, error) {
		e := concurrency.NewElection(session, "etcd/election")
		if err := e.Campaign(ctx, "candidate"); err != nil {
			return nil, err
		}
		return func() error { return e.Resign(ctx) }, nil
	}
	return candidate{campaign, func() { _ = client.Close() }, requests}
}

func ourCandidate(b *testing.B, servers []string) candidate {
	client, requests := process(b, servers)
	l, err := etcdlock.New(client, lock.WithNodeTimeout(time.Second))
	must(b, err)
	b.Cleanup(func() { _ = l.Close() })
	ctx := context.Background()
	campaign := func() (func() error, error) {
		term, err := election.Campaign(ctx, l, "election", election.TTL(electionTTL))
		if err != nil {
			return nil, err
		}
		return func() error { return term.Resign(ctx) }, nil
	}
	return candidate{campaign, func() { _ = client.Close() }, requests}
}

// elections are etcd's own and ours, in turns.
var elections = []struct {
	name string
	join func(*testing.B, []string) candidate
}{{"etcd", etcdCandidate}, {"election", ourCandidate}}

// BenchmarkElection compares elections over etcdlock with etcd's own: a campaign and a resignation without contention,
// and a hand-off to a candidate that waits. The two take turns. Run it with -benchtime=100x.
func BenchmarkElection(b *testing.B) {
	for _, members := range []int{1, 3} {
		b.Run(fmt.Sprint(members, " members"), func(b *testing.B) { compareElections(b, onDisk(b, members)) })
	}
}

func compareElections(b *testing.B, servers []string) {
	var alone, handOffs [2][]time.Duration
	var requests [2]int64
	var all [2][2]candidate
	for i, e := range elections {
		all[i] = [2]candidate{e.join(b, servers), e.join(b, servers)}
	}
	for b.Loop() {
		for i, c := range all {
			before, began := c[0].requests.Load(), time.Now()
			resign, err := c[0].campaign()
			must(b, err)
			must(b, resign())
			alone[i] = append(alone[i], time.Since(began))
			requests[i] += c[0].requests.Load() - before
			handOffs[i] = append(handOffs[i], handOff(b, c))
		}
	}
	for i, e := range elections {
		b.ReportMetric(p50(alone[i]), e.name+"-us")
		b.ReportMetric(p50(handOffs[i]), e.name+"-hand-off-us")
		b.ReportMetric(float64(requests[i])/float64(b.N), e.name+"-requests")
	}
	b.ReportMetric(p50(alone[1])/p50(alone[0]), "x")
	b.ReportMetric(p50(handOffs[1])/p50(handOffs[0]), "hand-off-x")
}

// p50 is the median in microseconds.
func p50(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds())
}

// leadsLater lets a candidate campaign behind a leader. It returns once that waits.
func leadsLater(b *testing.B, c candidate) (led <-chan time.Time, resign <-chan func() error) {
	at, again := make(chan time.Time, 1), make(chan func() error, 1)
	go func() {
		r, err := c.campaign()
		if err != nil {
			b.Error(err)
			r = func() error { return nil }
		}
		at <- time.Now()
		again <- r
	}()
	time.Sleep(30 * time.Millisecond) // until it waits
	return at, again
}

// handOff is the time from the first candidate's resignation until the second, which waits, leads.
func handOff(b *testing.B, c [2]candidate) time.Duration {
	b.Helper()
	resign, err := c[0].campaign()
	must(b, err)
	led, again := leadsLater(b, c[1])
	began := time.Now()
	must(b, resign())
	took := (<-led).Sub(began)
	must(b, (<-again)())
	return took
}

// BenchmarkElectionCrash is the time from the crash of a leader until the next one leads, on three members. The leader
// has led for a second and a half. Run it with -benchtime=5x.
func BenchmarkElectionCrash(b *testing.B) {
	servers := onDisk(b, 3)
	var took [2][]time.Duration
	for b.Loop() {
		for i, e := range elections {
			leader, next := e.join(b, servers), e.join(b, servers)
			_, err := leader.campaign()
			must(b, err)
			led, again := leadsLater(b, next)
			time.Sleep(1500 * time.Millisecond)
			began := time.Now()
			leader.crash()
			took[i] = append(took[i], (<-led).Sub(began))
			must(b, (<-again)())
		}
	}
	for i, e := range elections {
		b.ReportMetric(p50(took[i])/1e6, e.name+"-s")
	}
}

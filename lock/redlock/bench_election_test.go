package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/election"
)

// candidate campaigns, and returns what resigns.
type candidate func() (resign func() error, err error)

// BenchmarkElection compares elections with the bare script that many services have: SET NX PX, tried again every 50
// ms, and a compare-and-delete. An iteration is a campaign and a resignation of each without contention, and a hand-off
// of each from a leader to the candidate that waits. Run it with -benchtime=100x.
func BenchmarkElection(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) { benchElection(b, n) })
	}
}

func benchElection(b *testing.B, n int) {
	servers := benchServers(b, n)
	ctx := context.Background()
	var ours, bare [2]candidate
	for i := range ours {
		l := benchLocker(b, servers)
		ours[i] = func() (func() error, error) {
			term, err := election.Campaign(ctx, l, "election")
			if err != nil {
				return nil, err
			}
			return func() error { return term.Resign(ctx) }, nil
		}
		f := floorLock{benchClients(b, servers[:1], redis.Options{PoolSize: 32})}
		bare[i] = func() (func() error, error) { return f.campaign(ctx, fmt.Sprint("bare ", i)) }
	}
	var alone, handOffs [2][]time.Duration
	commands := 0 // of elections; the bare script sends two
	for b.Loop() {
		for i, c := range [][2]candidate{bare, ours} {
			before, _ := commandCount(b, servers)
			alone[i] = append(alone[i], timed(b, func() error { return pairOf(c[0]) }))
			after, _ := commandCount(b, servers)
			commands += i * (after - before)
			handOffs[i] = append(handOffs[i], handOff(b, c))
		}
	}
	for i, name := range []string{"bare", "election"} {
		b.ReportMetric(float64(quantile(alone[i], .5).Microseconds()), name+"-us")
		b.ReportMetric(float64(quantile(handOffs[i], .5).Microseconds()), name+"-hand-off-us")
	}
	b.ReportMetric(float64(commands)/float64(len(alone[1])), "election-commands")
	b.ReportMetric(float64(quantile(alone[1], .5))/float64(quantile(alone[0], .5)), "x")
	b.ReportMetric(float64(quantile(handOffs[1], .5))/float64(quantile(handOffs[0], .5)), "hand-off-x")
}

// campaign is the bare script, on one server.
func (f floorLock) campaign(ctx context.Context, token string) (resign func() error, err error) {
	const key = "bare-election"
	for {
		ok, err := f.clients[0].SetNX(ctx, key, token, 10*time.Second).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			return func() error { return compareAndDelete.Run(ctx, f.clients[0], []string{key}, token).Err() }, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	began := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func pairOf(c candidate) error {
	resign, err := c()
	if err != nil {
		return err
	}
	return resign()
}

// handOff is the time from the first candidate's resignation until the second, which waits, leads.
func handOff(b *testing.B, c [2]candidate) time.Duration {
	b.Helper()
	resign, err := c[0]()
	if err != nil {
		b.Fatal(err)
	}
	type leading struct {
		since  time.Time
		resign func() error
		err    error
	}
	second := make(chan leading, 1)
	go func() {
		r, err := c[1]()
		second <- leading{time.Now(), r, err}
	}()
	time.Sleep(30 * time.Millisecond) // until it waits
	began := time.Now()
	if err := resign(); err != nil {
		b.Fatal(err)
	}
	next := <-second
	if next.err != nil {
		b.Fatal(next.err)
	}
	if err := next.resign(); err != nil {
		b.Fatal(err)
	}
	return next.since.Sub(began)
}

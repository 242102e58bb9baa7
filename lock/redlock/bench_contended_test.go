package redlock_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// BenchmarkContended runs independent lockers, each with its own connections, on one resource. On one node the floor is
// a token that is passed through a list with BLPOP and LPUSH. That is the fastest hand-over in Redis, but it knows no
// owner and survives no crash. An iteration is two seconds of each; run it with -benchtime=3x.
func BenchmarkContended(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, lockers := range []int{2, 8, 32} {
			for _, hold := range []time.Duration{0, time.Millisecond} {
				b.Run(fmt.Sprintf("nodes=%d/lockers=%d/hold=%v", n, lockers, hold), func(b *testing.B) {
					benchContended(b, n, lockers, hold)
				})
			}
		}
	}
}

const stretch = 2 * time.Second

func benchContended(b *testing.B, n, lockers int, hold time.Duration) {
	servers := benchServers(b, n)
	all := make([]*engine.Engine, lockers)
	lists := make([]*redis.Client, lockers)
	for i := range all {
		all[i] = benchLocker(b, servers)
		lists[i] = benchClients(b, servers[:1], redis.Options{})[0]
	}
	ctx := context.Background()
	floor, ours := newLedger(lockers), newLedger(lockers)
	list := lists[0]
	var floorCommands, ourCommands, everything int
	for b.Loop() {
		if n == 1 {
			if err := list.LPush(ctx, "token", "1").Err(); err != nil {
				b.Fatal(err)
			}
			before, _ := commandCount(b, servers)
			floor.run(b, hold, func(w int) (func() error, error) {
				err := lists[w].BLPop(ctx, time.Minute, "token").Err()
				return func() error { return lists[w].LPush(ctx, "token", "1").Err() }, err
			})
			after, _ := commandCount(b, servers)
			floorCommands += after - before
			list.Del(ctx, "token")
		}
		before, allBefore := commandCount(b, servers)
		ours.run(b, hold, func(w int) (func() error, error) {
			lease, err := all[w].Acquire(ctx, "contended")
			if err != nil {
				return nil, err
			}
			return func() error { return lease.Release(ctx) }, nil
		})
		after, allAfter := commandCount(b, servers)
		ourCommands += after - before
		everything += allAfter - allBefore
	}
	ours.report(b, "")
	b.ReportMetric(float64(ourCommands)/float64(ours.acquired()), "commands/acq")
	b.ReportMetric(float64(everything)/float64(ours.acquired()), "with-inner/acq")
	if n == 1 {
		floor.report(b, "floor-")
		b.ReportMetric(float64(floorCommands)/float64(floor.acquired()), "floor-commands/acq")
		b.ReportMetric(float64(ours.handoffs)/float64(floor.handoffs), "rate-x")
	}
}

// inner lists the commands that only scripts send here.
var inner = []string{
	"get", "mget", "set", "del", "exists", "pttl", "pexpire", "time", "publish",
	"zadd", "zrem", "zscore", "zrank", "zpopmin", "zrange", "zrangebyscore", "incrby", "decrby",
}

// commandCount returns how many commands clients have sent to the servers, and the same with the commands of their
// scripts. INFO itself is left out.
func commandCount(b *testing.B, servers []*redisproc.Server) (sent, all int) {
	for _, c := range benchClients(b, servers, redis.Options{}) {
		info, err := c.Info(context.Background(), "commandstats").Result()
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(info) {
			name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
			if !ok || name == "info" || name == "hello" || strings.HasPrefix(name, "client") {
				continue
			}
			count, _, _ := strings.Cut(rest, ",")
			calls, err := strconv.Atoi(count)
			if err != nil {
				b.Fatal(err)
			}
			all += calls
			isInner := false
			for _, i := range inner {
				isInner = isInner || i == name
			}
			if !isInner {
				sent += calls
			}
		}
	}
	return sent, all
}

// ledger counts the winners, how often the lock changed hands, and the waits.
type ledger struct {
	mu       sync.Mutex
	last     int
	handoffs int
	each     []int
	waits    []time.Duration
	ran      time.Duration
}

func newLedger(lockers int) *ledger { return &ledger{last: -1, each: make([]int, lockers)} }

func (l *ledger) run(b *testing.B, hold time.Duration, acquire func(worker int) (release func() error, err error)) {
	began := time.Now()
	_, err := workers(len(l.each), stretch, func(w, _ int) error {
		asked := time.Now()
		release, err := acquire(w)
		if err != nil {
			return err
		}
		l.note(w, time.Since(asked))
		if hold > 0 {
			time.Sleep(hold)
		}
		return release()
	})
	if err != nil {
		b.Fatal(err)
	}
	l.ran += time.Since(began)
}

func (l *ledger) note(worker int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if worker != l.last {
		l.handoffs++
	}
	l.last = worker
	l.each[worker]++
	l.waits = append(l.waits, wait)
}

func (l *ledger) acquired() int { return len(l.waits) }

// fairness is Jain's index: 1 if all got the lock equally often, 1/n if one got it every time.
func (l *ledger) fairness() float64 {
	var sum, squares float64
	for _, n := range l.each {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	return sum * sum / (float64(len(l.each)) * squares)
}

func (l *ledger) report(b *testing.B, prefix string) {
	b.ReportMetric(float64(l.handoffs)/l.ran.Seconds(), prefix+"handoffs/s")
	b.ReportMetric(float64(quantile(l.waits, .5).Microseconds())/1000, prefix+"p50-ms")
	b.ReportMetric(float64(quantile(l.waits, .99).Microseconds())/1000, prefix+"p99-ms")
	b.ReportMetric(l.fairness(), prefix+"jain")
}

package redlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

const benchSlots = 5

func benchSemaphore(b *testing.B, l lock.Locker) *semaphore.Semaphore {
	b.Helper()
	s, err := semaphore.New(l, "permits", benchSlots)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkPermit is one permit of a semaphore with free slots, acquired and released, alternating with its floor: a lock.
// floor-x is the ratio of the medians.
func BenchmarkPermit(b *testing.B) {
	for _, nodes := range []int{1, 5} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			ctx, cancel := cancellable()
			defer cancel()
			locker := benchLocker(b, benchServers(b, nodes))
			s := benchSemaphore(b, locker)
			floors := make([]time.Duration, 0, b.N)
			times := make([]time.Duration, 0, b.N)
			for b.Loop() {
				began := time.Now()
				if err := lockPair(ctx, locker, "lock"); err != nil {
					b.Fatal(err)
				}
				floors = append(floors, time.Since(began))
				began = time.Now()
				p, err := s.Acquire(ctx)
				if err == nil {
					err = p.Release(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			report(b, floors, times)
		})
	}
}

// countingScript is the usual semaphore of one node: a sorted set of tokens with their expiry.
var countingScript = redis.NewScript(`
local now = redis.call("TIME")
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", ms)
if redis.call("ZCARD", KEYS[1]) < tonumber(ARGV[2]) then
	redis.call("ZADD", KEYS[1], ms + 10000, ARGV[1])
	return 1
end
return 0`)

// countingFloor has that on all nodes, and asks again each 5 ms. On several nodes it does not keep the bound, since
// each node counts for itself; it is a floor for the cost.
type countingFloor struct{ clients []*redis.Client }

func (f countingFloor) acquire(ctx context.Context) (release func() error, err error) {
	token := rand.Text()
	release = func() error {
		return floorLock(f).onQuorum(func(c *redis.Client) error { return c.ZRem(ctx, "counting", token).Err() })
	}
	for {
		err := floorLock(f).onQuorum(func(c *redis.Client) error {
			granted, err := countingScript.Run(ctx, c, []string{"counting"}, token, benchSlots).Int()
			if err == nil && granted == 0 {
				return errCountingFull
			}
			return err
		})
		if err != errCountingFull {
			return release, err
		}
		if len(f.clients) > 1 {
			if err := release(); err != nil {
				return nil, err
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var errCountingFull = errors.New("no permit is free")

// BenchmarkPermits runs 20 callers, of one process or of four, on five permits, each held for a millisecond. The floor is
// a counting script. An iteration is two seconds of each; run it with -benchtime=3x.
func BenchmarkPermits(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, lockers := range []int{1, 4} {
			b.Run(fmt.Sprintf("nodes=%d/lockers=%d", n, lockers), func(b *testing.B) { benchPermits(b, n, lockers) })
		}
	}
}

func benchPermits(b *testing.B, n, lockers int) {
	const callers, hold = 20, time.Millisecond
	servers := benchServers(b, n)
	all := make([]*semaphore.Semaphore, lockers)
	for i := range all {
		all[i] = benchSemaphore(b, benchLocker(b, servers))
	}
	counting := countingFloor{benchClients(b, servers, redis.Options{PoolSize: 32})}
	ctx := context.Background()
	ours, floor := newLedger(callers), newLedger(callers)
	commands, floorCommands := 0, 0
	for b.Loop() {
		start, _ := commandCount(b, servers)
		floor.run(b, hold, func(int) (func() error, error) { return counting.acquire(ctx) })
		before, _ := commandCount(b, servers)
		ours.run(b, hold, func(w int) (func() error, error) {
			p, err := all[w%lockers].Acquire(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { return p.Release(ctx) }, nil
		})
		after, _ := commandCount(b, servers)
		floorCommands += before - start
		commands += after - before
	}
	for name, of := range map[string]struct {
		ledger   *ledger
		commands int
	}{"": {ours, commands}, "floor-": {floor, floorCommands}} {
		acquired := float64(of.ledger.acquired())
		b.ReportMetric(acquired/of.ledger.ran.Seconds(), name+"acq/s")
		b.ReportMetric(float64(of.commands)/acquired, name+"commands/acq")
		b.ReportMetric(float64(quantile(of.ledger.waits, .5).Microseconds())/1000, name+"p50-ms")
		b.ReportMetric(float64(quantile(of.ledger.waits, .99).Microseconds())/1000, name+"p99-ms")
	}
}

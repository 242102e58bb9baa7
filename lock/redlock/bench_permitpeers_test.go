package redlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// The scripts below do the work of Redisson's semaphores, by the commands that its source sends, in scripts of our own.
// Each call is one script on one server: RSemaphore has a counter, which no process that died gives back, and
// RPermitExpirableSemaphore a sorted set of permits beside it. A release publishes to all processes that wait, and each
// of them asks again. See redisson/src/main/java/org/redisson/Redisson{Semaphore,PermitExpirableSemaphore}.java at
// https://github.com/redisson/redisson.
var (
	countAcquire = redis.NewScript(`
if tonumber(redis.call("GET", KEYS[1]) or "0") < 1 then
	return 0
end
redis.call("DECRBY", KEYS[1], 1)
return 1`)
	countRelease = redis.NewScript(`return redis.call("PUBLISH", KEYS[2], redis.call("INCRBY", KEYS[1], 1))`)

	expiringAcquire = redis.NewScript(`
local over = redis.call("ZRANGEBYSCORE", KEYS[2], 0, ARGV[3], "LIMIT", 0, 1)
if over[1] then
	redis.call("ZREM", KEYS[2], over[1])
	redis.call("PUBLISH", KEYS[3], redis.call("INCRBY", KEYS[1], 1))
end
if tonumber(redis.call("GET", KEYS[1]) or "0") < 1 then
	redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")
	return 0
end
redis.call("DECRBY", KEYS[1], 1)
redis.call("ZADD", KEYS[2], ARGV[2], ARGV[1])
redis.call("PTTL", KEYS[1])
return 1`)
	expiringRelease = redis.NewScript(`
redis.call("ZSCORE", KEYS[2], ARGV[1])
if redis.call("ZREM", KEYS[2], ARGV[1]) == 1 then
	redis.call("PUBLISH", KEYS[3], redis.call("INCRBY", KEYS[1], 1))
end
return 1`)
)

// permitPeer is one process that uses such a semaphore.
type permitPeer struct {
	client   *redis.Client
	messages *redis.PubSub
	expiring bool
}

const peerChannel = "peer-channel"

func (p *permitPeer) acquire(ctx context.Context) (release func() error, err error) {
	id := rand.Text()
	subscribed := false
	defer func() {
		if subscribed {
			err = errors.Join(err, p.messages.Unsubscribe(ctx, peerChannel))
		}
	}()
	for {
		granted, err := p.try(ctx, id)
		if err != nil {
			return nil, err
		}
		if granted {
			return func() error { return p.release(ctx, id) }, nil
		}
		if !subscribed {
			if err := p.messages.Subscribe(ctx, peerChannel); err != nil {
				return nil, err
			}
			subscribed = true
			continue
		}
		if err := p.await(ctx); err != nil {
			return nil, err
		}
	}
}

func (p *permitPeer) try(ctx context.Context, id string) (bool, error) {
	script, keys, args := countAcquire, []string{"peer"}, []any{}
	if p.expiring {
		now := time.Now().UnixMilli()
		script, keys, args = expiringAcquire, []string{"peer", "peer-permits", peerChannel}, []any{id, now + 30_000, now}
	}
	granted, err := script.Run(ctx, p.client, keys, args...).Int()
	return granted == 1, err
}

func (p *permitPeer) release(ctx context.Context, id string) error {
	if p.expiring {
		return expiringRelease.Run(ctx, p.client, []string{"peer", "peer-permits", peerChannel}, id).Err()
	}
	return countRelease.Run(ctx, p.client, []string{"peer", peerChannel}).Err()
}

// await waits for a message that a permit was released, or one that the channel is heard now.
func (p *permitPeer) await(ctx context.Context) error {
	_, err := p.messages.ReceiveTimeout(ctx, time.Second)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil
	}
	return err
}

// BenchmarkPermitPeers runs processes of one caller each on two permits, each held for a millisecond: with the work of
// Redisson's semaphores on the first server, and with a semaphore on all servers. One process never waits. The floor is
// the counter. An iteration is two seconds of each; run it with -benchtime=3x.
func BenchmarkPermitPeers(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, processes := range []int{1, 12} {
			b.Run(fmt.Sprintf("nodes=%d/processes=%d", n, processes), func(b *testing.B) { benchPermitPeers(b, n, processes) })
		}
	}
}

// permitWay is one way to get a permit.
type permitWay struct {
	name     string
	acquire  []func(context.Context) (func() error, error)
	ledger   *ledger
	commands int
}

func benchPermitPeers(b *testing.B, n, processes int) {
	const slots = 2
	servers := benchServers(b, n)
	ctx := context.Background()
	admin := benchClients(b, servers[:1], redis.Options{})[0]
	if err := admin.Set(ctx, "peer", slots, 0).Err(); err != nil {
		b.Fatal(err)
	}
	ways := []*permitWay{
		{name: "floor-", acquire: peerProcesses(b, servers, processes, false)},
		{name: "expiring-", acquire: peerProcesses(b, servers, processes, true)},
		{name: "", acquire: ourProcesses(b, servers, processes, slots)},
	}
	hold := time.Duration(0)
	if processes > slots {
		hold = time.Millisecond
	}
	for i := 0; b.Loop(); i++ {
		for _, way := range ways {
			if i == 0 {
				way.ledger = newLedger(processes)
			}
			before, _ := commandCount(b, servers)
			way.ledger.run(b, hold, func(w int) (func() error, error) { return way.acquire[w](ctx) })
			after, _ := commandCount(b, servers)
			way.commands += after - before
		}
	}
	for _, way := range ways {
		got := float64(way.ledger.acquired())
		b.ReportMetric(got/way.ledger.ran.Seconds(), way.name+"acq/s")
		b.ReportMetric(float64(way.commands)/got, way.name+"commands/acq")
		b.ReportMetric(float64(quantile(way.ledger.waits, .5).Microseconds())/1000, way.name+"p50-ms")
		b.ReportMetric(float64(quantile(way.ledger.waits, .99).Microseconds())/1000, way.name+"p99-ms")
		b.ReportMetric(float64(way.ledger.handoffs)/way.ledger.ran.Seconds(), way.name+"handoffs/s")
	}
}

func peerProcesses(b *testing.B, servers []*redisproc.Server, n int, expiring bool,
) (all []func(context.Context) (func() error, error)) {
	for range n {
		c := benchClients(b, servers[:1], redis.Options{PoolSize: 2})[0]
		p := &permitPeer{client: c, messages: c.Subscribe(context.Background()), expiring: expiring}
		b.Cleanup(func() { _ = p.messages.Close() })
		all = append(all, p.acquire)
	}
	return all
}

func ourProcesses(b *testing.B, servers []*redisproc.Server, n, slots int,
) (all []func(context.Context) (func() error, error)) {
	for range n {
		s, err := semaphore.New(benchLocker(b, servers), "peers", slots)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, func(ctx context.Context) (func() error, error) {
			p, err := s.Acquire(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { return p.Release(ctx) }, nil
		})
	}
	return all
}

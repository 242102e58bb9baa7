package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/scanner"
)

// crash is a hook that sends so many scripts, and none after that, as a process that dies does.
type crash struct {
	left *atomic.Int64
}

var errCrashed = errors.New("the process is dead")

func (crash) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c crash) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") && c.left.Add(-1) < 0 {
			cmd.SetErr(errCrashed)
			return errCrashed
		}
		return next(ctx, cmd)
	}
}

func (crash) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestACrashLeavesNoReaderBehind: whichever script of a process is the last one that the nodes run, every key that it
// leaves expires: the readers after their TTL, and queue, bars and tombstones after two minutes at most. The process
// reads, waits in vain to write, renews and releases.
func TestACrashLeavesNoReaderBehind(t *testing.T) {
	const ttl = 5 * time.Second
	f := startNodes(t, 3)
	for scripts := int64(0); ; scripts++ {
		var left atomic.Int64
		left.Store(scripts)
		var clients []redis.UniversalClient
		for _, s := range f.servers {
			c := redis.NewClient(&redis.Options{Addr: s.Addr()})
			c.AddHook(crash{&left})
			clients = append(clients, c)
		}
		l, err := redlock.New(clients, redlock.WithRestartQuarantine(0))
		must(t, err)
		rw, err := rwlock.New(l, fmt.Sprint("prices-", scripts))
		must(t, err)
		if lease, err := rw.RLock(within(t), lock.TTL(ttl), lock.NoRenew(), lock.MaxWait(100*time.Millisecond)); err == nil {
			_, err = rw.Lock(within(t), lock.TTL(ttl), lock.MaxWait(100*time.Millisecond))
			if err == nil {
				t.Error("a writer beside a reader")
			}
			_ = lease.Extend(within(t))
			_ = lease.Release(within(t))
		}
		must(t, l.Close())
		for i, c := range f.clients {
			wantExpiring(t, fmt.Sprintf("after %d scripts, node %d", scripts, i), c, ttl)
			must(t, clients[i].Close())
		}
		if left.Load() >= 0 {
			t.Logf("%d scripts", scripts)
			break
		}
		if scripts > 300 {
			t.Fatal("there is no end of scripts")
		}
	}
	wantFindings(t, "readers", sweep(t, newScanner(t, f.clients, scanner.WithChecks(inspect.NoTTL, inspect.LongTTL),
		scanner.WithEmptyAllowed())).Findings)
}

// wantExpiring requires that every key expires: those of locks after ttl, all others after two minutes. Fence counters
// and the marker of the server are not left by anybody.
func wantExpiring(t *testing.T, what string, c redis.UniversalClient, ttl time.Duration) {
	t.Helper()
	for _, key := range c.Keys(within(t), "*").Val() {
		if strings.HasPrefix(key, "lockscope:fence:") || key == "lockscope:life" {
			continue
		}
		limit := 2 * time.Minute
		if strings.HasPrefix(key, "lock:") {
			limit = ttl
		}
		if left := c.PTTL(within(t), key).Val(); left == -1 || left > limit {
			t.Errorf("%s: %s expires in %v", what, key, left)
		}
	}
}

// TestAQueueThatNeverExpiresHoldsUpNobody: dead waiters in a queue, and a dead writer's bar, whose TTL somebody took
// away. Waiters that nobody listens for are passed over, a bar has an expiry of its own, one that is years ahead does
// not count, and the next waiter gives the queue its TTL back. So the scanner does not look for them.
func TestAQueueThatNeverExpiresHoldsUpNobody(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	past := time.Now().Add(-time.Hour)
	for _, c := range f.clients {
		for _, key := range []string{"lock:prices", "lock:plain"} {
			for i := range 5 {
				dead := redis.Z{Score: float64(past.UnixMicro()), Member: fmt.Sprint("dead", i)}
				must(t, c.ZAdd(ctx, stored.QueueKey(key), dead).Err())
			}
		}
		must(t, c.HSet(ctx, "lockscope:bars:{lock:prices}", "dead0",
			fmt.Sprintf("%d:%d", past.UnixMicro(), past.UnixMilli()),
			"dead1", fmt.Sprintf("%d:%d", past.UnixMicro(), past.AddDate(3, 0, 0).UnixMilli())).Err())
	}
	l := engineOf(t, f, "prices-1")
	rw, err := rwlock.New(l, "prices")
	must(t, err)
	for range 2 {
		read, err := rw.TryRLock(ctx)
		must(t, err)
		must(t, read.Release(ctx))
		write, err := rw.TryLock(ctx)
		must(t, err)
		must(t, write.Release(ctx))
		plain, err := l.Acquire(ctx, "plain", lock.NoWait(), lock.Fair())
		must(t, err)
		must(t, plain.Release(ctx))
	}
	read, err := rw.RLock(ctx)
	must(t, err)
	if _, err := rw.Lock(ctx, lock.MaxWait(200*time.Millisecond)); err == nil {
		t.Error("a writer beside a reader")
	}
	must(t, read.Release(ctx))
	stay := 0
	for _, c := range f.clients {
		if c.TTL(ctx, stored.QueueKey("lock:prices")).Val() == -1 {
			stay++
		}
	}
	if stay == len(f.clients) {
		t.Error("no queue has its TTL back")
	}
}

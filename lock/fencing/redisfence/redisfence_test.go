package redisfence_test

import (
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/fencing"
	"github.com/lockscope/lockscope/lock/fencing/redisfence"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// TestLowerTokensAreRefused for good, also those that differ only beyond the 53 bits of a number in Lua.
func TestLowerTokensAreRefused(t *testing.T) {
	c := client(t)
	const high = 1<<60 + 1
	balance, want := "balance:7", ""
	for i, step := range []struct {
		fence uint64
		seen  uint64 // 0: it passes
	}{
		{9, 0}, {9, 0}, {8, 9}, {10, 0}, {9, 10}, {high, 0}, {high - 1, high}, {high, 0}, {math.MaxInt64, 0},
		{high, math.MaxInt64},
	} {
		value := string(rune('a' + i))
		err := redisfence.Set(t.Context(), c, "account:7", step.fence, balance, value, 0)
		if step.seen == 0 {
			must(t, err)
			want = value
		} else if stale, ok := errors.AsType[*fencing.StaleError](err); !ok ||
			*stale != (fencing.StaleError{Resource: "account:7", Fence: step.fence, Seen: step.seen}) {
			t.Errorf("%d: %v, want stale after %d", step.fence, err, step.seen)
		}
		if got := c.Get(t.Context(), balance).Val(); got != want {
			t.Errorf("%d: the value is %q, want %q", step.fence, got, want)
		}
	}
	must(t, redisfence.Set(t.Context(), c, "account:8", 1, balance, "x", time.Minute)) // another resource
	if ttl := c.PTTL(t.Context(), balance).Val(); ttl <= 0 || ttl > time.Minute {
		t.Errorf("TTL %v", ttl)
	}
}

// TestScriptsThatShareAKey refuse a lower token wherever the key stands in their lists. "pay" and "ship" write one order
// under one lock.
func TestScriptsThatShareAKey(t *testing.T) {
	c := client(t)
	write := redisfence.NewScript(`for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1]) end`)
	pay, order, ship, b := "balance:7", "order:1001", "stock:7", "late"
	run := func(fence uint64, value string, keys ...string) error {
		_, err := write.Run(t.Context(), c, "order:1001", fence, keys, value)
		if errors.Is(err, redis.Nil) { // the script returns nothing
			err = nil
		}
		return err
	}
	must(t, run(10, "paid", pay, order))
	for _, keys := range [][]string{{order, ship}, {ship, order}, {order, pay}, {ship, b, pay}} {
		if err := run(9, "late", keys...); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("token 9 after 10, on %v: %v", keys, err)
		}
	}
	if got := c.MGet(t.Context(), pay, order, ship, b).Val(); !slices.Equal(got, []any{"paid", "paid", nil, nil}) {
		t.Errorf("a late script wrote: %v", got)
	}
	must(t, run(10, "shipped", ship, order))
	must(t, run(11, "paid again", order, pay))
	if err := run(10, "late", order); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("token 10 after 11: %v", err)
	}
}

// TestKeysOfOneSlot of a Redis Cluster need no hash tag in common.
func TestKeysOfOneSlot(t *testing.T) {
	first, second := "a", "b"
	for hashslot.Of(second) != hashslot.Of(first) {
		second = rand.Text()
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: locktest.Cluster(t, 3).Addrs()})
	t.Cleanup(func() { must(t, c.Close()) })
	script := redisfence.NewScript(`return redis.call('INCRBY', KEYS[1], #KEYS)`)
	_, err := script.Run(t.Context(), c, "order:1001", 10, []string{first, second})
	must(t, err)
	if _, err := script.Run(t.Context(), c, "order:1001", 9, []string{second, first}); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("token 9 after 10: %v", err)
	}
}

// TestScript sees its own keys and arguments, and its replies and errors arrive.
func TestScript(t *testing.T) {
	c := client(t)
	move := redisfence.NewScript(`
		if #KEYS ~= 2 or #ARGV ~= 1 then return redis.error_reply('ERR ' .. #KEYS .. ' keys') end
		redis.call('DECRBY', KEYS[1], ARGV[1])
		return redis.call('INCRBY', KEYS[2], ARGV[1])
	`)
	keys := []string{"{bank}:a", "{bank}:b"}
	for _, want := range []int64{30, 60} {
		got, err := move.Run(t.Context(), c, "bank", 5, keys, 30)
		if err != nil || got != want {
			t.Errorf("%v, %v; want %d", got, err, want)
		}
	}
	if n, err := c.Get(t.Context(), "lockscope:seen:{bank}:bank").Int(); n != 5 {
		t.Errorf("the token beside the data is %d, %v", n, err)
	}
	_, err := move.Run(t.Context(), c, "bank", 6, keys)
	if err == nil || errors.Is(err, fencing.ErrStale) {
		t.Errorf("the script's own error: %v", err)
	}
	for _, bad := range []error{
		func() error { _, err := move.Run(t.Context(), c, "bank", 0, keys, 30); return err }(),
		func() error { _, err := move.Run(t.Context(), c, "bank", 7, nil, 30); return err }(),
		redisfence.Set(t.Context(), c, "bank", 7, "{bank}:a", 1, -1),
	} {
		if !errors.Is(bad, lock.ErrInvalidOption) {
			t.Error(bad)
		}
	}
}

package scanner_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner"
)

// busyLocks change their holders as often as the scanner sends commands: every second command finds all of them newly
// acquired, however slow the machine is.
type busyLocks struct {
	writes   []func(ctx context.Context) error
	commands atomic.Int64
}

// client returns a client whose connections change the holders, also connections that a Scanner opens in their place.
func (b *busyLocks) client(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &busyConn{conn, b}, nil
		}})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func (b *busyLocks) change(ctx context.Context) error {
	for _, write := range b.writes {
		if err := write(ctx); err != nil {
			return fmt.Errorf("the holders do not change: %w", err)
		}
	}
	return nil
}

type busyConn struct {
	net.Conn
	locks *busyLocks
}

// Write sends a command of the scanner.
func (c *busyConn) Write(p []byte) (int, error) {
	if c.locks.commands.Add(1)%2 == 0 {
		if err := c.locks.change(context.Background()); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// TestBusyLocksAreNotHeldTooLong has locks whose values do not distinguish holders, acquired anew all the time.
func TestBusyLocksAreNotHeldTooLong(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	setting := func(value string, keys ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, key := range keys {
				if err := c.Set(ctx, key, value, 10*time.Second).Err(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	entering := func(key, client string) func(context.Context) error {
		return func(ctx context.Context) error {
			pipe := c.TxPipeline()
			pipe.Del(ctx, key)
			pipe.HSet(ctx, key, client+":42", 1)
			pipe.PExpire(ctx, key, 30*time.Second)
			_, err := pipe.Exec(ctx)
			return err
		}
	}
	busy := &busyLocks{writes: []func(context.Context) error{
		setting("1", "lock:constant"),
		setting("locked-by-the-order-service", "lock:word"),
		setting(redsyncValue, "lock:shared:1", "lock:shared:2"),
		setting(shedLockUUID, "lock:spring"),
		setting(strings.Repeat("x", 300)+"tail", "lock:partial"),
		entering("lock:redisson", redissonID),
	}}
	must(t, busy.change(ctx))
	must(t, c.Set(ctx, "lock:held", redislockVal, time.Minute).Err())
	must(t, c.Set(ctx, "lock:held:constant", "1", time.Minute).Err())

	watched := []redis.UniversalClient{busy.client(t, f.servers[0].Addr())}
	for _, path := range paths() {
		s := newScanner(t, watched, scanner.UsePath(path), scanner.WithHoldLimit(time.Second),
			scanner.WithConfirmAfter(2*time.Second))
		for range 4 {
			report := sweep(t, s)
			for _, finding := range report.Findings {
				if !strings.HasPrefix(finding.Key, "lock:held") {
					t.Errorf("%s: %s of %s, whose holder changes all the time: %s", path, finding.Class, finding.Key,
						finding.Evidence)
				}
			}
			if n := report.Nodes[0]; n.Indistinct == 0 {
				t.Errorf("%s: nothing is said of locks without distinct holders: %+v", path, n)
			}
			time.Sleep(400 * time.Millisecond) // between two sweeps, locks that are held grow older
		}
		report := sweep(t, s)
		wantFindings(t, string(path), report.Findings, "held_too_long lock:held", "held_too_long lock:held:constant")
	}
}

// TestUnmeasuredHashesAreNotOneHolder: the user may not measure hashes.
func TestUnmeasuredHashesAreNotOneHolder(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	must(t, c.Do(ctx, "acl", "setuser", "poor", "on", ">pw", "~*", "+@all", "-memory").Err())
	poor := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr(), Username: "poor", Password: "pw"})
	defer poor.Close()
	var clk clock
	s := newScanner(t, []redis.UniversalClient{poor}, scanner.WithNow(clk.now), scanner.WithHoldLimit(time.Hour))
	for i := range 5 {
		must(t, c.Del(ctx, "lock:hash").Err())
		must(t, c.HSet(ctx, "lock:hash", fmt.Sprintf("%s:%d", redissonID, i), 1).Err())
		must(t, c.Expire(ctx, "lock:hash", 30*time.Second).Err())
		report := sweep(t, s)
		wantFindings(t, "unmeasured", report.Findings)
		if n := report.Nodes[0]; n.Indistinct != 1 {
			t.Errorf("sweep %d: %d indistinct, want 1", i, n.Indistinct)
		}
		clk.pass(40 * time.Minute)
	}
}

// TestClientsThatComeAgain: two holds of one client are not one long hold if a sweep saw a lower hold count, or the
// lock free.
func TestClientsThatComeAgain(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var clk clock
	s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithHoldLimit(time.Hour),
		scanner.WithEmptyAllowed())
	for i := range 6 {
		must(t, c.HSet(ctx, "lock:count", redissonID+":7", 3-i%3).Err())
		must(t, c.Expire(ctx, "lock:count", 30*time.Second).Err())
		must(t, c.Del(ctx, "lock:gap").Err())
		if i%2 == 0 {
			must(t, c.HSet(ctx, "lock:gap", redissonID+":8", 1).Err())
			must(t, c.Expire(ctx, "lock:gap", 30*time.Second).Err())
		}
		wantFindings(t, fmt.Sprint("sweep ", i), sweep(t, s).Findings)
		clk.pass(50 * time.Minute)
	}
}

// TestHoldersClocks: what holders say is compared with what was seen of them.
func TestHoldersClocks(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var clk clock
	for i, tc := range []struct {
		off  time.Duration
		want string // the evidence after 10 minutes; "" for no finding
		then string // the evidence after 70 minutes
	}{
		{0, "", "1h10m"},
		{-3 * time.Hour, "", "behind"},
		{30 * 24 * time.Hour, "", "ahead"},
	} {
		for _, value := range []func() string{
			func() string { return lockscopeValue(token, clk.now().Add(tc.off)) },
			func() string { return shedLockValue(clk.now().Add(tc.off)) },
		} {
			must(t, c.FlushAll(ctx).Err())
			s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithHoldLimit(time.Hour),
				scanner.WithEmptyAllowed())
			sweep(t, s)
			clk.pass(time.Minute)
			must(t, c.Set(ctx, "lock:a", value(), 10*time.Minute).Err())
			sweep(t, s)
			clk.pass(10 * time.Minute)
			wantFindings(t, fmt.Sprint("healthy ", i), sweep(t, s).Findings)
			clk.pass(time.Hour)
			report := sweep(t, s)
			wantFindings(t, fmt.Sprint("zombie ", i), report.Findings, "held_too_long lock:a")
			if len(report.Findings) == 1 && !strings.Contains(report.Findings[0].Evidence, tc.then) {
				t.Errorf("evidence %q, want %s", report.Findings[0].Evidence, tc.then)
			}
		}
	}
}

package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

// raced calls replace before the write that left counts down to.
type raced struct {
	left    atomic.Int64
	replace func()
}

func (r *raced) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	return racedConn{conn, r}, err
}

type racedConn struct {
	net.Conn
	*raced
}

func (c racedConn) Write(b []byte) (int, error) {
	if c.left.Add(-1) == 0 {
		c.replace()
	}
	return c.Conn.Write(b)
}

// TestRepairNeverTouchesAReplacement replaces a leaked lock by another holder's before each of the repair's writes
// and after the last one. The other holder's lock must stay.
func TestRepairNeverTouchesAReplacement(t *testing.T) {
	theirs := redsyncOf("theirs")
	f := startNodes(t, 1)
	c := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr()})
	defer c.Close()
	for way, client := range repairers(t, f) {
		race := &raced{replace: func() { must(t, c.Set(within(t), "lock:leak", theirs, 0).Err()) }}
		client.(*redis.Client).Options().Dialer = race.dial
		for _, action := range []repair.Action{repair.Delete(), repair.Expire(time.Minute)} {
			for write, during := 1, true; during; write++ {
				set(t, c, "lock:leak", redsyncValue, 0)
				s := newScanner(t, []redis.UniversalClient{client})
				finding := find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak")
				race.left.Store(int64(write))
				want := inspect.Changed
				r, err := s.Repair(within(t), finding, action)
				if during = race.left.Swap(0) <= 0; !during {
					want = inspect.Done
					race.replace()
				}
				must(t, err)
				value, ttl := c.Get(within(t), finding.Key).Val(), c.PTTL(within(t), finding.Key).Val()
				if r.Outcome != want || value != theirs || ttl != -1 {
					t.Errorf("%s: %v, replaced before write %d: outcome %s; the new holder's lock is %q with TTL %v",
						way, action, write, r.Outcome, value, ttl)
				}
				if write == 1 && !during {
					t.Errorf("%s: %v: the repair sent nothing", way, action)
				}
			}
		}
	}
}

// cutConn breaks once when told to, instead of returning the server's answer.
type cutConn struct {
	net.Conn
	cut *atomic.Bool
}

func (c cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut.CompareAndSwap(true, false) {
		c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// TestRepairIsNotSentTwice loses the answer to a repair that was done. If the repair were repeated, it would report
// that the key was already gone.
func TestRepairIsNotSentTwice(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for _, rules := range [][]string{nil, {"-eval", "-evalsha"}} {
		var cut atomic.Bool
		must(t, c.Do(within(t), slices.Concat([]any{"acl", "setuser", "u", "reset", "on", "nopass", "~*", "&*",
			"+@all"}, toAny(rules))...).Err())
		client := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr(), Username: "u", Password: "x",
			Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				var d net.Dialer
				conn, err := d.DialContext(ctx, network, addr)
				return cutConn{conn, &cut}, err
			}})
		t.Cleanup(func() { _ = client.Close() })
		set(t, c, "lock:leak", redsyncValue, 0)
		s := newScanner(t, []redis.UniversalClient{client})
		finding := find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:leak")
		repaired(t, s, finding, repair.Delete().DryRun(), inspect.WouldDo)
		must(t, c.ConfigResetStat(within(t)).Err())
		cut.Store(true)
		r, err := s.Repair(within(t), finding, repair.Delete())
		if failed, ok := errors.AsType[*repair.Error](err); !ok || r.Outcome != "" ||
			failed.Node != f.servers[0].Addr() || !strings.Contains(err.Error(), "lock:leak") {
			t.Errorf("%s, %v; want a RepairError", r.Outcome, err)
		}
		if sent := timesSent(t, c, "evalsha"); sent != 1 {
			t.Errorf("sent %d times", sent)
		}
		if rules == nil {
			eventually(t, "the repair is done all the same",
				func() bool { return c.Exists(within(t), "lock:leak").Val() == 0 })
			repaired(t, s, finding, repair.Delete(), inspect.Gone)
		}
	}
}

// timesSent counts calls of a command, including refused ones.
func timesSent(t testing.TB, c redis.Cmdable, command string) int {
	t.Helper()
	_, stats, _ := strings.Cut(c.Info(within(t), "commandstats").Val(), "cmdstat_"+command+":")
	calls, rejected := 0, 0
	_, err := fmt.Sscanf(stats, "calls=%d", &calls)
	must(t, err)
	_, stats, _ = strings.Cut(stats, "rejected_calls=")
	_, err = fmt.Sscanf(stats, "%d", &rejected)
	must(t, err)
	return calls + rejected
}

func toAny(texts []string) (all []any) {
	for _, s := range texts {
		all = append(all, s)
	}
	return all
}

// TestRepairACLSuffices gives a user only the documented rules. With fewer, the error names the documentation.
func TestRepairACLSuffices(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for _, less := range []string{"", "+eval", "+pexpire"} {
		rules := slices.DeleteFunc(append(scanner.ListACL(), scanner.RepairACL()...), func(rule string) bool {
			return less != "" && strings.HasPrefix(rule, less) && !strings.Contains(rule, "_ro")
		})
		must(t, c.FlushAll(within(t)).Err())
		must(t, c.ScriptFlush(within(t)).Err())
		plant(t, c, time.Now())
		s := newScanner(t, []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), c, rules)})
		r := sweep(t, s)
		for _, key := range []string{"lock:redsync:leak", "lock:shedlock:leak"} {
			finding := find(t, r.Findings, inspect.NoTTL, key)
			repaired(t, s, finding, repair.Expire(time.Hour).DryRun(), inspect.WouldDo)
			r, err := s.Repair(within(t), finding, repair.Expire(time.Hour))
			if less == "+pexpire" {
				if !strings.Contains(fmt.Sprint(err), "RepairACL") || strings.Contains(fmt.Sprint(err), redsyncValue) {
					t.Errorf("without %s: %s, %v", less, r.Outcome, err)
				}
			} else if err != nil || r.Outcome != inspect.Done {
				t.Errorf("without %q: %s, %v", less, r.Outcome, err)
			}
		}
	}
}

package scanner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

// putReader makes a reader of a lock on one node, as the script does: its own expiry, and the key's TTL if that is
// longer than the one that stands.
func putReader(t testing.TB, c redis.UniversalClient, key, name string, began time.Time, left time.Duration) {
	t.Helper()
	ctx := within(t)
	value := fmt.Sprintf("%d:17|%s|%d||a.1|||read", time.Now().Add(left).UnixMilli(), name, began.UnixMilli())
	must(t, c.HSet(ctx, key, tokenOf(name), value).Err())
	if left > 0 && c.PTTL(ctx, key).Val() < left {
		must(t, c.PExpire(ctx, key, left).Err())
	}
}

// hasReader reports whether a node has the field of a reader.
func hasReader(t testing.TB, c redis.UniversalClient, key, name string) bool {
	t.Helper()
	is, err := c.HExists(within(t), key, tokenOf(name)).Result()
	must(t, err)
	return is
}

// liveReader holds a lock to read, renewed, until the test ends.
func liveReader(t testing.TB, f *nodes, name string) lock.Lease {
	rw, err := rwlock.New(engineOf(t, f, "bystander"), name)
	must(t, err)
	lease, err := rw.RLock(within(t), lock.TTL(10*time.Second))
	must(t, err)
	eventually(t, "the reader is on all nodes", func() bool {
		n := int64(0)
		for _, c := range f.clients {
			n += c.HLen(within(t), "lock:"+name).Val()
		}
		return n == int64(len(f.clients))
	})
	return lease
}

// TestOrphanedReaders: a reader on a minority of five nodes is found beside a live one, and repaired, while the live
// one stays; one on a majority is none. The last node is in trouble. What only it could decide is not decided.
func TestOrphanedReaders(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		fault   func(f *nodes) error
		silent  bool
		decided bool // about a reader on two nodes
	}{
		"all well": {func(*nodes) error { return nil }, false, true},
		"dead":     {func(f *nodes) error { return f.servers[4].Kill() }, true, false},
		"read-only": {func(f *nodes) error {
			return f.clients[4].ConfigSet(ctx, "min-replicas-to-write", "1").Err()
		}, false, true},
		"empty": {func(f *nodes) error { return f.clients[4].FlushAll(ctx).Err() }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := startNodes(t, 5)
			lease := liveReader(t, f, "prices")
			began := time.Now().Add(-time.Minute)
			putReader(t, f.clients[0], "lock:prices", "gone", began, time.Hour/2)
			for _, at := range []int{1, 2} {
				putReader(t, f.clients[at], "lock:rates", "two", began, time.Hour/2)
			}
			for _, at := range []int{0, 1, 2} {
				putReader(t, f.clients[at], "lock:stock", "three", began, time.Hour/2)
			}
			must(t, c.fault(f))
			s := newScanner(t, f.clients, scanner.WithOneRedlock())
			r, err := s.Sweep(within(t))
			if c.silent {
				asNode(t, err, f.servers[4].Addr())
			} else {
				must(t, err)
			}
			want := []string{"orphan lock:prices"}
			if c.decided {
				want = append(want, "orphan lock:rates", "orphan lock:rates")
			}
			wantFindings(t, name, r.Findings, want...)
			gone := find(t, r.Findings, inspect.Orphan, "lock:prices")
			if gone.Node != f.servers[0].Addr() || gone.Hold.Instance != "gone" || gone.Hold.Kind != lock.KindRead ||
				gone.TTL < 20*time.Minute || !strings.HasPrefix(gone.Evidence, "reader of prices: its token is on 1 of 5") {
				t.Errorf("%+v", gone)
			}
			if n := reportOf(t, r, gone.Node).Counts[inspect.Orphan]; n != 1 {
				t.Errorf("%d orphans are counted", n)
			}
			repaired(t, s, gone, repair.Delete().DryRun(), inspect.WouldDo)
			repaired(t, s, gone, repair.Delete(), inspect.Done)
			repaired(t, s, gone, repair.Delete(), inspect.Gone)
			fields, err := f.clients[0].HGetAll(within(t), "lock:prices").Result()
			must(t, err)
			if len(fields) != 1 || hasReader(t, f.clients[0], "lock:prices", "gone") || lease.Context().Err() != nil {
				t.Errorf("readers %d, the bystander's lease: %v", len(fields), context.Cause(lease.Context()))
			}
			if ttl := f.clients[0].PTTL(within(t), "lock:prices").Val(); ttl <= 0 || ttl > 10*time.Second {
				t.Errorf("the key outlives its last reader: %v", ttl)
			}
			must(t, lease.Extend(within(t)))
		})
	}
}

// TestReadersWhoseKeyNeverExpires, on a majority: those whose time is over are taken out. A live one stays, and its key
// expires with it again.
func TestReadersWhoseKeyNeverExpires(t *testing.T) {
	f := startNodes(t, 5)
	now := time.Now()
	for _, c := range f.clients[:3] {
		putReader(t, c, "lock:prices", "dead", now.Add(-3*time.Hour), -2*time.Hour)
		putReader(t, c, "lock:mixed", "dead, too", now.Add(-3*time.Hour), -2*time.Hour)
		putReader(t, c, "lock:mixed", "live", now.Add(-time.Minute), time.Minute)
		must(t, c.Persist(within(t), "lock:mixed").Err())
	}
	s := newScanner(t, f.clients, scanner.WithOneRedlock())
	p := carried(t, planOf(t, s, inspect.NoTTL, inspect.Orphan, inspect.HeldTooLong))
	if len(p.Steps) != 6 || len(p.Refused) != 0 {
		t.Fatalf("%+v", p)
	}
	says := p.Steps[step(t, p, "lock:prices")].Evidence
	if !strings.Contains(says, "reader of prices: its TTL is -1: the time of its last reader (of 1) ended 2h") {
		t.Errorf("%q", says)
	}
	run := begin(t, newScanner(t, f.clients, scanner.WithOneRedlock()), p)
	for i := range p.Steps {
		if r, err := run.Apply(within(t), i, false); err != nil || r.Outcome != inspect.Done {
			t.Errorf("%s: %s, %v", p.Steps[i].Key, r.Outcome, err)
		}
	}
	for _, c := range f.clients[:3] {
		ttl := c.PTTL(within(t), "lock:mixed").Val()
		if c.Exists(within(t), "lock:prices").Val() != 0 || hasReader(t, c, "lock:mixed", "dead, too") ||
			!hasReader(t, c, "lock:mixed", "live") || ttl <= 0 || ttl > time.Minute {
			t.Errorf("keys %q, TTL %v", c.Keys(within(t), "*").Val(), ttl)
		}
	}
	wantFindings(t, "repaired", sweep(t, newScanner(t, f.clients, scanner.WithOneRedlock())).Findings)
}

// TestAReaderThatMayBeAliveIsLeftAlone: one that renewed its time after it was found as an orphan, and one that a
// majority has by the time of the repair.
func TestAReaderThatMayBeAliveIsLeftAlone(t *testing.T) {
	f := startNodes(t, 3)
	began := time.Now().Add(-time.Minute)
	for _, key := range []string{"lock:renews", "lock:spreads", "lock:short"} {
		putReader(t, f.clients[0], key, key, began, time.Minute)
	}
	putReader(t, f.clients[0], "lock:short", "other", began, time.Hour/2)
	putReader(t, f.clients[1], "lock:short", "other", began, time.Hour/2)
	opts := []scanner.Option{scanner.WithOneRedlock()}
	p := carried(t, planOf(t, newScanner(t, f.clients, opts...), inspect.Orphan))
	putReader(t, f.clients[0], "lock:renews", "lock:renews", began, 2*time.Minute)
	putReader(t, f.clients[1], "lock:spreads", "lock:spreads", began, time.Minute)
	putReader(t, f.clients[0], "lock:short", "lock:short", began, 10*time.Second)
	run := begin(t, newScanner(t, f.clients, opts...), p)
	for _, key := range []string{"lock:renews", "lock:spreads", "lock:short"} {
		for _, dry := range []bool{true, false} {
			if r, err := run.Apply(within(t), step(t, p, key), dry); err != nil || r.Outcome != inspect.Changed {
				t.Errorf("%s: %s, %v", key, r.Outcome, err)
			}
		}
		if !hasReader(t, f.clients[0], key, key) {
			t.Errorf("%s: its reader was removed", key)
		}
	}
}

// TestAReaderOnAReadOnlyNodeIsNotRepaired: the error is the server's, the reader stays, and a repair after that works.
func TestAReaderOnAReadOnlyNodeIsNotRepaired(t *testing.T) {
	f := startNodes(t, 3)
	putReader(t, f.clients[0], "lock:prices", "gone", time.Now(), time.Hour/2)
	s := newScanner(t, f.clients, scanner.WithOneRedlock())
	gone := find(t, sweep(t, s).Findings, inspect.Orphan, "lock:prices")
	must(t, f.clients[0].ConfigSet(within(t), "min-replicas-to-write", "1").Err())
	if r, err := s.Repair(within(t), gone, repair.Delete()); err == nil || !strings.Contains(err.Error(), "NOREPLICAS") {
		t.Errorf("%s, %v", r.Outcome, err)
	}
	if !hasReader(t, f.clients[0], "lock:prices", "gone") {
		t.Error("it was removed")
	}
	must(t, f.clients[0].ConfigSet(within(t), "min-replicas-to-write", "0").Err())
	repaired(t, s, gone, repair.Delete(), inspect.Done)
}

// TestAReadersTimeIsShortened by the action that expires, and by nothing that would prolong it.
func TestAReadersTimeIsShortened(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	began := time.Now().Add(-3 * time.Hour)
	putReader(t, c, "lock:prices", "stuck", began, 2*time.Hour)
	putReader(t, c, "lock:prices", "other", time.Now(), time.Minute)
	s := newScanner(t, f.clients)
	findings := sweep(t, s).Findings
	wantFindings(t, "a reader with a long TTL", findings, "held_too_long lock:prices", "long_ttl lock:prices")
	long := find(t, findings, inspect.LongTTL, "lock:prices")
	repaired(t, s, long, repair.Expire(3*time.Hour), inspect.Changed)
	repaired(t, s, long, repair.Expire(10*time.Second), inspect.Done)
	if ttl := c.PTTL(within(t), "lock:prices").Val(); ttl <= 50*time.Second || ttl > time.Minute {
		t.Errorf("the key does not expire with its last reader: %v", ttl)
	}
	value := c.HGet(within(t), "lock:prices", tokenOf("stuck")).Val()
	_, ends, hold, ok := stored.ParseReader(tokenOf("stuck"), value)
	if left := time.Until(ends); !ok || left > 11*time.Second || hold.Instance != "stuck" {
		t.Errorf("%v left, %+v", left, hold)
	}
}

// TestAReaderWhoseTimeIsOver is judged no more, although Redis has its field until somebody asks for the lock.
func TestAReaderWhoseTimeIsOver(t *testing.T) {
	f := startNodes(t, 3)
	for _, c := range f.clients {
		putReader(t, c, "lock:prices", "live", time.Now(), time.Minute)
	}
	putReader(t, f.clients[0], "lock:prices", "over", time.Now().Add(-3*time.Hour), -time.Minute)
	r := sweep(t, newScanner(t, f.clients, scanner.WithOneRedlock()))
	wantFindings(t, "a reader whose time is over", r.Findings)
}

// TestAReaderOfYearsIsFound, also where there are more readers than are read: then the TTL of the key tells. Readers
// whose time is over do not hide it.
func TestAReaderOfYearsIsFound(t *testing.T) {
	const years = 3 * 365 * 24 * time.Hour
	f := startNodes(t, 1)
	c := f.clients[0]
	for key, others := range map[string]int{"lock:alone": 0, "lock:few": 3, "lock:many": 40} {
		for i := range others {
			putReader(t, c, key, fmt.Sprint("over", i), time.Now().Add(-time.Hour), -time.Minute)
		}
		putReader(t, c, key, "hand", time.Now(), years)
	}
	wantFindings(t, "a reader of years", sweep(t, newScanner(t, f.clients)).Findings,
		"long_ttl lock:alone", "long_ttl lock:few", "long_ttl lock:many")
}

package redlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func restarts(rec *recorder) (all []locktrace.NodeRestart) {
	for _, e := range rec.all() {
		if r, ok := e.data.(locktrace.NodeRestart); ok {
			all = append(all, r)
		}
	}
	return all
}

// TestRealFewNodesRestart: a single node that restarts without its data votes at once, and a trace reports that two
// leases are possible. With the option it stays silent.
func TestRealFewNodesRestart(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"reported": false, "enforced": true} {
		t.Run(name, func(t *testing.T) {
			f, rec := startNodes(t, 1), newRecorder()
			given := plainClient(t, &redis.Options{Addr: f.servers[0].Addr()})
			opts := []lock.Option{lock.WithNodeTimeout(nodeTimeout)}
			if asked {
				opts = append(opts, redlock.WithRestartQuarantine(longTTL))
				f.vouchForAll()
			}
			l, err := redlock.New([]redis.UniversalClient{given}, opts...)
			must(t, err)
			t.Cleanup(func() { must(t, l.Close()) })
			// A server that started this moment gives a new process a lock at once.
			first, err := l.Acquire(rec.in(t.Context()), "job", lock.NoWait(), lock.TTL(longTTL), lock.NoRenew())
			must(t, err)
			met := restarts(rec)
			if asked != (len(met) == 0) || !asked && (met[0].Witnessed || met[0].Enforced || met[0].Left <= 0) {
				t.Errorf("of the server that was met young: %+v", met)
			}

			f.kill(0)
			f.wipe(0)
			f.restart(0)
			var second lock.Lease
			eventually(t, settleTime, "the new server answers", func() bool {
				second, err = l.Acquire(rec.in(t.Context()), "job", lock.NoWait(), lock.TTL(longTTL))
				return len(restarts(rec)) > len(met) && (err == nil || errors.Is(err, driver.ErrQuarantined))
			})
			r := restarts(rec)[len(met)]
			if r.Node != f.servers[0].Addr() || !r.Witnessed || r.Left < longTTL/2 || r.Enforced != asked {
				t.Errorf("reported %+v", r)
			}
			if asked {
				wantErr(t, err, driver.ErrQuarantined, lock.ErrNoQuorum)
				return
			}
			must(t, err)
			if first.Remaining() <= 0 || second.Fence() <= first.Fence() {
				t.Errorf("%v left of the first lease, fences %d and %d", first.Remaining(), first.Fence(),
					second.Fence())
			}
			must(t, second.Release(t.Context()))
			if _, err = l.Acquire(rec.in(t.Context()), "job", lock.NoWait(),
				lock.TTL(longTTL)); len(restarts(rec)) != len(met)+1 {
				t.Errorf("reported again: %+v, %v", restarts(rec), err)
			}
		})
	}
}

// TestRealVouch lets a set of new nodes vote at once, until one of them restarts.
func TestRealVouch(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	// abandoned requests leave keys, and a node with keys is not new
	l := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience))
	_, err := l.Acquire(t.Context(), "job", lock.MaxWait(waitTime), lock.TTL(longTTL))
	wantErr(t, err, driver.ErrQuarantined)
	wantText(t, err, "vouch for them, once: lockscope init --redis "+f.servers[0].Addr())

	for range 2 { // a second vouch changes nothing
		must(t, redlock.Vouch(t.Context(), f.clients()))
	}
	var lease lock.Lease
	eventually(t, settleTime, "who was refused before notices", func() bool {
		lease, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return err == nil
	})
	must(t, lease.Release(t.Context()))

	f.config("appendonly", "yes", 0) // it keeps the marker, which now belongs to another process
	f.kill(0)
	f.restart(0)
	f.pause(1)
	took, _ := refused(t, guardedLocker(t, f.clients()), "job", driver.ErrQuarantined)
	wantWithin(t, "being refused", took, soon)
	f.resume(1)
	wantErr(t, redlock.Vouch(t.Context(), f.clients()), redlock.ErrNotNew)
}

// TestRealVouchForNodesThatRestarted without their data, beside one that votes and has granted nothing: the lock was
// theirs. A person may state that they are new.
func TestRealVouchForNodesThatRestarted(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	for _, c := range f.admin { // what new servers are asked
		must(t, c.Ping(t.Context()).Err())
		must(t, c.ConfigGet(t.Context(), "*").Err())
		must(t, c.Scan(t.Context(), 0, "lock:*", 10).Err())
		must(t, c.Info(t.Context(), "everything").Err())
		if err := c.EvalSha(t.Context(), strings.Repeat("0", 40), nil).Err(); err == nil {
			t.Fatal("a script that nobody has loaded runs")
		}
	}
	f.vouchForAll()
	f.kill(1, 2)
	f.wipe(1, 2)
	f.restart(1, 2)
	err := redlock.Vouch(t.Context(), f.clients())
	wantErr(t, err, redlock.ErrNotNew)
	wantText(t, err, f.servers[1].Addr(), f.servers[2].Addr(), "other nodes are in use already", "init --new",
		"init --restarted")
	wantErr(t, redlock.VouchNew(t.Context(), f.clients(), []string{"nobody:1"}), lock.ErrInvalidNode)
	wantErr(t, redlock.VouchNew(t.Context(), f.clients(), []string{f.servers[1].Addr()}), redlock.ErrNotNew)
	must(t, redlock.VouchNew(t.Context(), f.clients(), []string{f.servers[1].Addr(), f.servers[2].Addr()}))
}

const secretForTest = "0123456789abcdef0123456789abcdef"

// TestRealVouchGoesOn after an interruption: between the rounds, one node refused the user for a missing right.
func TestRealVouchGoesOn(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	runACL(t, f.admin[2], "ACL SETUSER default -eval")
	err := redlock.Vouch(t.Context(), f.clients())
	wantText(t, err, f.servers[2].Addr(), "NOPERM")
	runACL(t, f.admin[2], "ACL SETUSER default +eval")
	must(t, redlock.Vouch(t.Context(), f.clients()))
	must(t, acquire(t, guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience)), "job", lock.NoWait(),
		lock.TTL(longTTL)).Release(t.Context()))
}

// vouchUnderWay is the marker of a node in the first round of another vouch.
func (f *realNodes) vouchUnderWay(i int) string {
	f.t.Helper()
	info, err := f.admin[i].InfoMap(f.t.Context(), "server").Result()
	must(f.t, err)
	now, err := f.admin[i].Time(f.t.Context()).Result()
	must(f.t, err)
	var names []string
	for _, s := range f.servers {
		names = append(names, s.Addr())
	}
	return fmt.Sprintf("quarantine|%s|%s|0|vouch-somebody.%d|60602|0|0",
		string(guard.NewFingerprint(names, lock.DefaultMaxTTL)), info["Server"]["run_id"], now.UnixMicro())
}

// TestRealVouchRefuses anything but a whole set of new nodes, and marks none of them.
func TestRealVouchRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes   int
		spoil   func(f *realNodes) []redis.UniversalClient
		matches []error
		says    string
	}{
		"one was used": {3, func(f *realNodes) []redis.UniversalClient {
			single := newLocker(f.t, f.clients()[:1])
			must(f.t, acquire(f.t, single, "job").Release(f.t.Context()))
			return f.clients()
		}, []error{redlock.ErrNotNew}, "lockscope:fence:..."},
		"one gave up an attempt": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[0].Set(f.t.Context(), "lockscope:tomb:{lock:job}:"+secretForTest, "", longTTL).Err())
			return f.clients()
		}, []error{redlock.ErrNotNew}, "lockscope:tomb:..."},
		"one is down": {3, func(f *realNodes) []redis.UniversalClient {
			f.kill(2)
			return f.clients()
		}, nil, "refused"},
		"one is a replica": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[2].SlaveOf(f.t.Context(), "127.0.0.1", "1").Err())
			return f.clients()
		}, []error{driver.ErrReplica}, "replica"},
		"one is named twice": {2, func(f *realNodes) []redis.UniversalClient {
			proxy := proxyTo(f.t, f.servers[1])
			return append(f.clients(), plainClient(f.t, &redis.Options{Addr: proxy.Addr()}))
		}, []error{driver.ErrDuplicate}, ""},
		"another vouch is under way": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[2].Set(f.t.Context(), "lockscope:life", f.vouchUnderWay(2), 0).Err())
			return f.clients()
		}, []error{redlock.ErrNotNew}, "under way"},
		"one was flushed": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[2].FlushAll(f.t.Context()).Err())
			return f.clients()
		}, []error{redlock.ErrNotNew}, "FLUSHALL"},
		"keys have expired on one": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[2].Set(f.t.Context(), "cart:1", "", time.Millisecond).Err())
			eventually(f.t, settleTime, "it expires", func() bool { return f.admin[2].Exists(f.t.Context(), "cart:1").Val() == 0 })
			return f.clients()
		}, []error{redlock.ErrNotNew}, "expired_keys is 1"},
		"what the scripts of one have written is gone": {3, func(f *realNodes) []redis.UniversalClient {
			l := f.alone([]int{2})
			for range 2 { // the first call of each script loads it
				must(f.t, acquire(f.t, l, "job", lock.TTL(longTTL)).Release(f.t.Context()))
			}
			must(f.t, f.admin[2].Del(f.t.Context(), f.admin[2].Keys(f.t.Context(), "*").Val()...).Err())
			return f.clients()
		}, []error{redlock.ErrNotNew}, "scripts"},
		"one has another's data": {3, func(f *realNodes) []redis.UniversalClient {
			must(f.t, f.admin[2].Set(f.t.Context(), "lockscope:life", "voting|3:60000:abc|somebody|0", 0).Err())
			return f.clients()
		}, []error{redlock.ErrNotNew}, "another server"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startNodes(t, test.nodes)
			clients := test.spoil(f)
			err := redlock.Vouch(t.Context(), clients)
			wantErr(t, err, test.matches...)
			wantText(t, err, "127.0.0.1:", test.says)
			if err != nil && containsText(err, secretForTest) {
				t.Errorf("the error shows a token: %v", err)
			}
			for i, c := range f.admin {
				if life := c.Get(t.Context(), "lockscope:life").Val(); life != "" &&
					!strings.Contains(life, "somebody") {
					t.Errorf("node %d was marked: %q", i, life)
				}
			}
		})
	}
}

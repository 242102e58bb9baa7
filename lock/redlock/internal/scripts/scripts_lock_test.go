package scripts

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// TestScriptsCountFences: they increase, start at least at the clock, which may be ten seconds off, and are refused
// where numbers end.
func TestScriptsCountFences(t *testing.T) {
	s := newScripted(t)
	clock := func(off time.Duration) uint64 { return uint64(time.Now().Add(off).UnixMicro()) }
	last := uint64(0)
	next := func(what string, floor, run, least, most, wantRun uint64) {
		t.Helper()
		reply := s.granted(driver.AcquireRequest{Token: token("a"), Floor: floor, Run: run})
		if reply.Counter <= last || reply.Counter < least || reply.Counter > most || reply.Run != wantRun {
			t.Errorf("%s: fence %d with a run of %d, after %d; want %d to %d with %d", what, reply.Counter, reply.Run,
				last, least, most, wantRun)
		}
		last = reply.Counter + reply.Run - 1
		if stored := s.get(s.keys.fence); stored != strconv.FormatUint(last, 10) {
			t.Errorf("%s: the counter is %s, want %d", what, stored, last)
		}
		s.released(driver.ReleaseRequest{Token: token("a")})
	}
	next("a clock an hour late", clock(-time.Hour), 1, clock(-11*time.Second), clock(-8*time.Second), 1)
	now := clock(0)
	next("a clock that is right", now, 1, now, now, 1)
	next("the same instant", now, 1, now+1, now+1, 1)
	next("a run", now+10, 100, now+10, now+10, 100)
	next("after it", now, 1, now+110, now+110, 1)
	next("a clock an hour ahead", clock(time.Hour), 1, clock(8*time.Second), clock(12*time.Second), 1)
	next("a run ahead of the clock", now, 100, last+1, last+1, 1)

	for _, counter := range []string{"9007199254740991", "9007199254740992", "1e300", "-5", "1.5", "none"} {
		s.set(s.keys.fence, counter)
		_, err := s.acquire(driver.AcquireRequest{Token: token("a"), Floor: now}, "")
		if !errors.Is(err, driver.ErrFenceCounter) {
			t.Errorf("counter %s: %v", counter, err)
		}
	}
	s.set(s.keys.fence, "9007199254740990")
	next("the last", now, 1, 1<<53-1, 1<<53-1, 1)
}

// TestScriptsCompareTokens: no script changes another owner's lock. Raise does not change another grant of the same
// token either.
func TestScriptsCompareTokens(t *testing.T) {
	s := newScripted(t)
	mine, other := token("a"), token("b")
	grant := s.granted(driver.AcquireRequest{Token: mine, Floor: 1})
	if again := s.granted(driver.AcquireRequest{Token: mine, Floor: 1}); again.Counter != grant.Counter {
		t.Errorf("granted %d to a repeated acquire, and %d before", again.Counter, grant.Counter)
	}
	if reply, err := s.acquire(driver.AcquireRequest{Token: other}, ""); err != nil || reply.Granted ||
		reply.Holder != "host|1|" {
		t.Errorf("another's acquire: %+v, %v", reply, err)
	}
	if reply, err := s.extend(driver.ExtendRequest{Token: other, Refill: true, Fence: 1}, ""); err != nil ||
		reply != driver.ExtendTaken {
		t.Errorf("another's extend: %v, %v", reply, err)
	}
	if reply := s.released(driver.ReleaseRequest{Token: other}); reply.Found != driver.FoundOther {
		t.Errorf("another's release: %+v", reply)
	}
	fence := grant.Counter + 1000
	for what, raised := range map[string]bool{
		"another's": s.raise(other, grant.Counter, fence), "an earlier grant's": s.raise(mine, grant.Counter-1, fence),
		"a shorter number's": s.raise(mine, grant.Counter/10, fence),
	} {
		if raised || s.get(s.keys.fence) != strconv.FormatUint(grant.Counter, 10) {
			t.Errorf("%s raise: %v, the counter is %s", what, raised, s.get(s.keys.fence))
		}
	}
	if !strings.HasPrefix(s.get(s.keys.lock), mine+":") {
		t.Fatalf("the lock is %q", s.get(s.keys.lock))
	}
	if !s.raise(mine, grant.Counter, fence) || s.get(s.keys.fence) != strconv.FormatUint(fence, 10) ||
		!s.raise(mine, grant.Counter, 1) ||
		s.get(s.keys.fence) != strconv.FormatUint(fence, 10) {
		t.Errorf("its own raise: the counter is %s, want %d", s.get(s.keys.fence), fence)
	}
	if reply := s.released(driver.ReleaseRequest{Token: mine}); reply.Found != driver.FoundOwn ||
		s.get(s.keys.lock) != "" {
		t.Errorf("its own release: %+v", reply)
	}
}

// TestScriptsHeedTombstones: a buried request has no effect, however late it arrives. Only time removes the tombstone.
func TestScriptsHeedTombstones(t *testing.T) {
	s := newScripted(t)
	late, other := token("a"), token("b")
	wantBuried := func(after string) {
		t.Helper()
		if left := s.client.PTTL(t.Context(), s.keys.tombstone(late)).Val(); left < scriptTTL/2 {
			t.Fatalf("%v left of the tombstone after %s", left, after)
		}
	}
	s.granted(driver.AcquireRequest{Token: late})
	s.released(driver.ReleaseRequest{Token: late, Tombstone: scriptTTL})
	wantBuried("a release of what was there")
	if _, err := s.acquire(driver.AcquireRequest{Token: late}, ""); !errors.Is(err, driver.ErrTombstone) {
		t.Errorf("a late acquire: %v", err)
	}
	if reply, err := s.extend(driver.ExtendRequest{Token: late, Refill: true, Fence: 1}, ""); err != nil ||
		reply != driver.ExtendGone {
		t.Errorf("a late extend: %v, %v", reply, err)
	}
	args := s.scripts.ReleaseArgs(&driver.ReleaseRequest{Key: s.keys.lock, Token: late}, unheard)
	args[4] = s.keys.tombstone(late) // the name of a release that leaves one
	if _, err := s.run(s.scripts.Release, args); err != nil {
		t.Fatal(err)
	}
	wantBuried("a second release")
	s.granted(driver.AcquireRequest{Token: other})
	if reply, err := s.extend(driver.ExtendRequest{Token: late, Refill: true, Fence: 1}, ""); err != nil ||
		reply != driver.ExtendTaken {
		t.Errorf("a late extend of what is another's: %v, %v", reply, err)
	}
	wantBuried("an extend of what is another's")
	s.released(driver.ReleaseRequest{Token: late})
	wantBuried("a release of what is another's")
	waits := driver.AcquireRequest{Token: late, Waiter: driver.Waiter{ID: "gave-up", Enqueue: true}}
	if reply, err := s.acquire(waits, ""); err != nil || reply.Granted || reply.Ticket != 0 {
		t.Errorf("a late acquire of what is another's: %+v, %v", reply, err)
	}
	if n := s.client.ZCard(t.Context(), s.keys.queue).Val(); n != 0 {
		t.Error("a call that gave up queues")
	}
}

// TestScriptsRefill: the key is restored with the fence of its lease, and the counter is at least the last fence of the run.
// Both happen only on request.
func TestScriptsRefill(t *testing.T) {
	s := newScripted(t)
	mine := token("a")
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Fence: 7}, ""); err != nil ||
		reply != driver.ExtendGone || s.get(s.keys.lock) != "" {
		t.Errorf("an extend: %v, %v, the lock is %q", reply, err, s.get(s.keys.lock))
	}
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Fence: 7, Last: 9, Refill: true}, ""); err != nil ||
		reply != driver.ExtendRefilled {
		t.Errorf("a refill: %v, %v", reply, err)
	}
	if value, counter := s.get(s.keys.lock), s.get(s.keys.fence); value != mine+":7|host|2|" || counter != "9" {
		t.Errorf("the lock is %q, the counter %q", value, counter)
	}
	if reply, err := s.extend(driver.ExtendRequest{Token: mine, Fence: 7, Refill: true}, ""); err != nil ||
		reply != driver.ExtendDone {
		t.Errorf("an extend of it: %v, %v", reply, err)
	}
}

// TestScriptsOnAReplicaSayNothing about a lock: its data may be old, or of another set, and "not yours" would end a
// lease. Every script writes, and a replica refuses that.
func TestScriptsOnAReplicaSayNothing(t *testing.T) {
	s, master := newScripted(t), newScripted(t)
	master.client.ConfigSet(t.Context(), "repl-diskless-sync-delay", "0")
	if err := s.client.SlaveOf(t.Context(), "127.0.0.1", strconv.Itoa(master.server)).Err(); err != nil {
		t.Fatal(err)
	}
	synced := func(what string, cond func() bool) {
		t.Helper()
		for deadline := time.Now().Add(scriptTTL / 2); !cond(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the replica did not hear of %s", what)
			}
		}
	}
	ask := func(found string) {
		t.Helper()
		for _, refill := range []bool{false, true} {
			reply, err := s.extend(driver.ExtendRequest{Token: token("a"), Refill: refill, Fence: 1}, "")
			if !redisconn.HasCode(err, "READONLY") {
				t.Errorf("%s, refill %v: an extend says %v, %v", found, refill, reply, err)
			}
		}
		if reply, err := s.release(driver.ReleaseRequest{Token: token("a")}); !redisconn.HasCode(err, "READONLY") {
			t.Errorf("%s: a release says %+v, %v", found, reply, err)
		}
		if reply, err := s.peek(""); !redisconn.HasCode(err, "READONLY") {
			t.Errorf("%s: a peek says %+v, %v", found, reply, err)
		}
		if reply, err := s.extendSlot(slot(5, 6), true, "", ""); !redisconn.HasCode(err, "READONLY") {
			t.Errorf("%s: an extend of a slot says %v, %v", found, reply, err)
		}
		if reply, err := s.resize(0, 0, ""); !redisconn.HasCode(err, "READONLY") {
			t.Errorf("%s: a resize says %v, %v", found, reply, err)
		}
	}
	synced("its master", func() bool {
		return strings.Contains(s.client.Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	ask("nothing there")
	master.set(SlotsKey("lock:pool"), "2")
	master.granted(driver.AcquireRequest{Token: token("b")})
	synced("another's lock", func() bool { return s.get(s.keys.lock) != "" })
	ask("another's lock")
}

// TestScriptsServeInOrder: a release names the first waiter, for which the lock is then kept. A fair caller overtakes
// nobody. A waiter that leaves is forgotten, and the next one is named instead.
func TestScriptsServeInOrder(t *testing.T) {
	s := newScripted(t)
	queueUp := func(digit, waiter string, ahead int) {
		t.Helper()
		reply, err := s.acquire(driver.AcquireRequest{Token: token(digit),
			Waiter: driver.Waiter{ID: waiter, Enqueue: true}}, "")
		if err != nil || reply.Granted || reply.Ticket == 0 || reply.Ahead != ahead {
			t.Fatalf("%s: %+v, %v", waiter, reply, err)
		}
	}
	s.granted(driver.AcquireRequest{Token: token("a")})
	for i, waiter := range []string{"w1", "w2", "w3", "w4"} {
		queueUp(string(rune('b'+i)), waiter, i)
	}
	queueUp("b", "w1", 0) // a repeated request keeps its place
	if reply := s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL}); !reply.Named ||
		s.get(s.keys.next) != "w1" {
		t.Fatalf("%+v, the lock is kept for %q", reply, s.get(s.keys.next))
	}
	if reply, err := s.acquire(driver.AcquireRequest{Token: token("f")}, ""); err != nil || reply.Granted ||
		!reply.Reserved {
		t.Errorf("a stranger: %+v, %v", reply, err)
	}
	s.granted(driver.AcquireRequest{Token: token("b"), Waiter: driver.Waiter{ID: "w1", Enqueue: true, Ticket: 1}})
	s.released(driver.ReleaseRequest{Token: token("b")}) // it names no waiter
	late := driver.AcquireRequest{Token: token("f"), Fair: true, Window: scriptTTL,
		Waiter: driver.Waiter{ID: "late", Enqueue: true}}
	if reply, err := s.acquire(late, ""); err != nil || reply.Granted {
		t.Errorf("a fair caller with three in front: %+v, %v", reply, err)
	}
	if kept := s.get(s.keys.next); kept != "w2" {
		t.Errorf("the lock is kept for %q, want w2", kept)
	}
	s.leave("w3")
	s.leave("w2")
	if kept := s.get(s.keys.next); kept != "w4" {
		t.Errorf("the lock is kept for %q after w3 and w2 have left, want w4", kept)
	}
	if left := s.client.ZRange(t.Context(), s.keys.queue, 0, -1).Val(); len(left) != 1 || left[0] != "late" {
		t.Errorf("%v queue", left)
	}
}

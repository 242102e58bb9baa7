package scripts

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// queued asks for the lock as a waiter and is refused.
func (s *scripted) queued(digit string, w driver.Waiter) driver.AcquireReply {
	s.t.Helper()
	w.Enqueue = true
	reply, err := s.acquire(driver.AcquireRequest{Token: token(digit), Waiter: w}, "")
	if err != nil || reply.Granted {
		s.t.Fatalf("%s: %+v, %v", w.ID, reply, err)
	}
	return reply
}

// wantLeft fails the test unless the key expires within a range of the time given.
func (s *scripted) wantLeft(what, key string, want time.Duration) {
	s.t.Helper()
	if left := s.client.PTTL(s.t.Context(), key).Val(); left <= want/2 || left > want {
		s.t.Errorf("%s: %v left, want about %v", what, left, want)
	}
}

func (s *scripted) wantNext(what, want string) {
	s.t.Helper()
	if kept := s.get(s.keys.next); kept != want {
		s.t.Errorf("%s: the lock is kept for %q, want %q", what, kept, want)
	}
}

// TestScriptsForgetWhoLeaves: its place, its record, and the lock that is kept for it. Other waiters keep theirs.
func TestScriptsForgetWhoLeaves(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.queued("b", driver.Waiter{ID: "w1", Record: "one"})
	if says := s.get(s.keys.entry("w1")); !strings.HasSuffix(says, "\none") {
		t.Fatalf("w1 says %q", says)
	}
	s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL})
	s.wantNext("after a release", "w1")
	s.wantLeft("what is kept", s.keys.next, scriptTTL)
	s.leave("w2")
	s.wantNext("after another has left", "w1")
	s.leave("w1")
	s.wantNext("after it has left", "")
	if says := s.get(s.keys.entry("w1")); says != "" {
		t.Errorf("w1 has left, and says %q", says)
	}
	s.granted(driver.AcquireRequest{Token: token("c")}) // another caller need not wait
}

// TestScriptsKeepTheQueue for a while, and the place of a waiter.
func TestScriptsKeepTheQueue(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	first := s.queued("b", driver.Waiter{ID: "w1"})
	s.wantLeft("the queue", s.keys.queue, 2*time.Minute)
	earlier := driver.Waiter{ID: "w2", Ticket: first.Ticket - 1, Record: "two", Enqueue: true}
	if reply := s.queued("c", earlier); reply.Ticket != earlier.Ticket || reply.Ahead != 0 {
		t.Errorf("a ticket of before: %+v", reply)
	}
	s.wantLeft("what w2 says", s.keys.entry("w2"), 30*time.Second)
	if says, want := s.get(s.keys.entry("w2")), formatInt(earlier.Ticket)+"\ntwo"; says != want {
		t.Errorf("w2 says %q, want %q", says, want)
	}
	unqueued, err := s.acquire(driver.AcquireRequest{Token: token("d"), Waiter: driver.Waiter{ID: "w3", Ticket: 1}}, "")
	if err != nil || unqueued.Granted || unqueued.Ticket != 0 {
		t.Errorf("a caller that does not queue: %+v, %v", unqueued, err)
	}
	if waiting := s.client.ZCard(t.Context(), s.keys.queue).Val(); waiting != 2 {
		t.Errorf("%d wait, want 2", waiting)
	}
	s.released(driver.ReleaseRequest{Token: token("a")})
	s.granted(driver.AcquireRequest{Token: token("c"), Waiter: earlier})
	left, says := s.client.ZRange(t.Context(), s.keys.queue, 0, -1).Val(), s.get(s.keys.entry("w2"))
	if len(left) != 1 || left[0] != "w1" || says != "" {
		t.Errorf("who has the lock still queues: %v, and says %q", left, says)
	}
}

// TestScriptsNameOneAtATime: while the lock is kept for a waiter, another release names nobody. A waiter whose grant
// here had no effect returns to its place.
func TestScriptsNameOneAtATime(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.queued("b", driver.Waiter{ID: "w1"})
	s.queued("c", driver.Waiter{ID: "w2"})
	s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL})
	if reply := s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL}); reply.Named {
		t.Error("a second release names the next")
	}
	s.wantNext("after two releases", "w1")
	s.granted(driver.AcquireRequest{Token: token("b"), Waiter: driver.Waiter{ID: "w1", Enqueue: true, Ticket: 1}})
	s.released(driver.ReleaseRequest{Token: token("b"), Waiter: driver.Waiter{ID: "w1", Ticket: 1, Record: "one"}})
	if left := s.client.ZRange(t.Context(), s.keys.queue, 0, -1).Val(); strings.Join(left, " ") != "w1 w2" {
		t.Errorf("queue %v after w1 gave back what it was granted", left)
	}
	if says := s.get(s.keys.entry("w1")); says != "1\none" {
		t.Errorf("w1 says %q", says)
	}
}

// TestScriptsNameAgainWhoWasNamedTooEarly: a release that comes twice names a waiter while another one has the lock. That
// one's release names it again, in front of those that came before it.
func TestScriptsNameAgainWhoWasNamedTooEarly(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.queued("b", driver.Waiter{ID: "w1"})
	s.queued("c", driver.Waiter{ID: "w2"})
	s.queued("d", driver.Waiter{ID: "w3"})
	s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL})
	s.granted(driver.AcquireRequest{Token: token("b"), Waiter: driver.Waiter{ID: "w1", Enqueue: true, Ticket: 1}})
	if reply := s.released(driver.ReleaseRequest{Token: token("a"), Handoff: scriptTTL}); !reply.Named {
		t.Fatal("the second release names nobody")
	}
	s.queued("c", driver.Waiter{ID: "w2", Ticket: 2}) // it was refused
	if reply := s.released(driver.ReleaseRequest{Token: token("b"), Handoff: scriptTTL}); !reply.Named {
		t.Error("nobody is told that the lock is free")
	}
	s.wantNext("after the release", "w2")
	if left := s.client.ZRange(t.Context(), s.keys.queue, 0, -1).Val(); strings.Join(left, " ") != "w3" {
		t.Errorf("queue %v", left)
	}
}

// TestScriptsPassOverTheDead: on a single server, a waiter that does not listen is skipped.
func TestScriptsPassOverTheDead(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.queued("b", driver.Waiter{ID: "w1"})
	s.queued("c", driver.Waiter{ID: "w2"})
	sub := s.client.Subscribe(t.Context(), "lockscope:wake:w2")
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := driver.ReleaseRequest{Key: s.keys.lock, Token: token("a"), Handoff: scriptTTL}
	if _, err := s.run(s.scripts.Release, s.scripts.ReleaseArgs(&req, OnServer())); err != nil {
		t.Fatal(err)
	}
	if kept := s.get(s.keys.next); kept != "w2" {
		t.Fatalf("the lock is kept for %q, and w1 is dead", kept)
	}
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != s.keys.lock {
		t.Errorf("w2 is sent %+v, %v", m, err)
	}
}

// TestScriptsNameTheFairCallerItself if all waiters before it are dead: it has the lock, and the lock is kept for
// nobody.
func TestScriptsNameTheFairCallerItself(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.queued("b", driver.Waiter{ID: "w1"})
	ticket := s.queued("c", driver.Waiter{ID: "w2"}).Ticket
	s.released(driver.ReleaseRequest{Token: token("a")})
	sub := s.client.Subscribe(t.Context(), "lockscope:wake:w2")
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := driver.AcquireRequest{
		Key: s.keys.lock, Token: token("c"), TTL: scriptTTL, Holder: "host|1|", Fair: true, Window: scriptTTL,
		Waiter: driver.Waiter{ID: "w2", Enqueue: true, Ticket: ticket},
	}
	val, err := s.run(s.scripts.Acquire, append(s.scripts.AcquireArgs(&req, OnServer()), ""))
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := parseAcquire(val); err != nil || !reply.Granted {
		t.Errorf("%+v, %v", reply, err)
	}
	s.wantNext("it has the lock", "")
}

// TestScriptsServeTheFair: a fair caller names the first waiter. If that is itself, it has the lock, and the lock is
// kept for nobody.
func TestScriptsServeTheFair(t *testing.T) {
	fair := func(waiter string, ticket int64) driver.AcquireRequest {
		return driver.AcquireRequest{
			Token: token("f"), Fair: true, Window: scriptTTL,
			Waiter: driver.Waiter{ID: waiter, Enqueue: true, Ticket: ticket},
		}
	}
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	ticket := s.queued("b", driver.Waiter{ID: "w1"}).Ticket
	s.released(driver.ReleaseRequest{Token: token("a")})
	reply, err := s.acquire(fair("w2", 0), "")
	if err != nil || reply.Granted || !reply.Reserved || reply.TTL != scriptTTL {
		t.Errorf("with another in front: %+v, %v", reply, err)
	}
	s.wantNext("a fair caller came second", "w1")
	s.granted(fair("w1", ticket))
	s.wantNext("it has the lock", "")
	s.released(driver.ReleaseRequest{Token: token("f")})
	s.granted(fair("w2", 0)) // now the first
	s.wantNext("the first of the queue has the lock", "")
}

// TestScriptsLeaveOthersKeysAlone: a key of another type is not a free lock and cannot be released.
func TestScriptsLeaveOthersKeysAlone(t *testing.T) {
	s := newScripted(t)
	s.client.HSet(t.Context(), s.keys.lock, "field", 1)
	s.queued("a", driver.Waiter{ID: "w1"})
	reply, err := s.extend(driver.ExtendRequest{Token: token("a"), Refill: true, Fence: 1}, "")
	if err != nil || reply != driver.ExtendTaken {
		t.Errorf("extend: %v, %v", reply, err)
	}
	if reply := s.released(driver.ReleaseRequest{Token: token("a"),
		Handoff: scriptTTL}); reply.Found != driver.FoundOther {
		t.Errorf("release: %+v", reply)
	}
	if kind := s.client.Type(t.Context(), s.keys.lock).Val(); kind != "hash" {
		t.Errorf("the key is a %s", kind)
	}
}

// TestScriptsExtendOfAKeptLock: a renewal that comes after the release leaves it as it is.
func TestScriptsExtendOfAKeptLock(t *testing.T) {
	s := newScripted(t)
	mine := token("a")
	s.granted(driver.AcquireRequest{Token: mine})
	for _, c := range []struct {
		holder string
		want   driver.ExtendReply
	}{{"host|2|||||||done|", driver.ExtendDone}, {"host|2|", driver.ExtendTaken}, {"host|2|||||||done|", driver.ExtendDone}} {
		s.client.PExpire(t.Context(), s.keys.lock, scriptTTL/4)
		reply, err := s.extend(driver.ExtendRequest{Token: mine, Holder: c.holder, Rename: true, Final: true}, "")
		if left := s.client.PTTL(t.Context(), s.keys.lock).Val(); err != nil || reply != c.want ||
			left > scriptTTL/4 != (c.want == driver.ExtendDone) {
			t.Errorf("%q: %v, %v, %v left", c.holder, reply, err, left)
		}
	}
}

// TestScriptsExtend: it changes the TTL, and the holder record only on request. It never changes the token or its
// counter.
func TestScriptsExtend(t *testing.T) {
	s := newScripted(t)
	mine := token("a")
	counter := s.granted(driver.AcquireRequest{Token: mine}).Counter
	for _, rename := range []bool{false, true} {
		s.client.PExpire(t.Context(), s.keys.lock, scriptTTL/4)
		if reply, err := s.extend(driver.ExtendRequest{Token: mine, Rename: rename}, ""); err != nil ||
			reply != driver.ExtendDone {
			t.Errorf("rename %v: %v, %v", rename, reply, err)
		}
		s.wantLeft("the lock", s.keys.lock, scriptTTL)
		want := mine + ":" + formatInt(int64(counter)) + map[bool]string{false: "|host|1|", true: "|host|2|"}[rename]
		if value := s.get(s.keys.lock); value != want {
			t.Errorf("rename %v: the lock is %q, want %q", rename, value, want)
		}
	}
	if _, err := s.acquire(driver.AcquireRequest{Token: token("b")}, ""); errors.Is(err, driver.ErrTombstone) {
		t.Error(err)
	}
}

package scripts

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// readers writes readers under the key of the lock, by the digit of their tokens. Each has so much time left.
func (s *scripted) readers(left map[string]time.Duration) {
	s.t.Helper()
	now, err := s.client.Time(s.t.Context()).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	last := time.Duration(0)
	for digit, ttl := range left {
		last = max(last, ttl)
		value := fmt.Sprintf("%d:42|%s|1|", now.Add(ttl).UnixMilli(), digit)
		if err := s.client.HSet(s.t.Context(), s.keys.lock, token(digit), value).Err(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.client.PExpire(s.t.Context(), s.keys.lock, last)
}

func (s *scripted) extendReader(digit string, refill bool) (driver.ExtendReply, error) {
	s.t.Helper()
	req := &driver.ExtendRequest{Key: s.keys.lock, Token: token(digit), TTL: scriptTTL, Holder: digit + "|1|", Fence: 42,
		Refill: refill, Mode: driver.Read}
	val, err := s.run(s.scripts.ExtendIn(driver.Read), append(s.scripts.ExtendArgs(req, unheard), "", ""))
	if err != nil {
		return driver.ExtendGone, err
	}
	return parseExtend(val)
}

func (s *scripted) acquireShared(digit string, mode driver.Mode) (driver.AcquireReply, error) {
	s.t.Helper()
	req := &driver.AcquireRequest{Key: s.keys.lock, Token: token(digit), TTL: scriptTTL, Holder: digit + "|1|", Mode: mode}
	val, err := s.run(s.scripts.AcquireIn(mode), append(s.scripts.AcquireArgs(req, unheard), ""))
	if err != nil {
		return driver.AcquireReply{}, err
	}
	return parseAcquire(val)
}

// find is what a reply has of the reader with this digit.
func find(reply driver.RevokeReply, digit string) driver.RevokeReader {
	for _, r := range reply.Readers {
		if r.Grant == driver.GrantOf(token(digit)) {
			return r
		}
	}
	return driver.RevokeReader{}
}

// TestScriptsRevokeReaders: two of four readers are marked, of whom the server has one. A marked token is refused
// whatever it asks for, and no other is.
func TestScriptsRevokeReaders(t *testing.T) {
	s := newScripted(t)
	s.readers(map[string]time.Duration{"a": 50 * time.Second, "b": 20 * time.Second, "c": -time.Second})
	seen, err := s.revoke(driver.RevokeRequest{}, "")
	if err != nil || !seen.ByReaders || len(seen.Readers) != 2 {
		t.Fatalf("asked: %+v, %v; the reader that has expired is no reader", seen, err)
	}
	for digit, most := range map[string]time.Duration{"a": 50 * time.Second, "b": 20 * time.Second} {
		if r := find(seen, digit); !r.Held || r.Counter != 42 || r.Holder != digit+"|1|" || r.TTL > most ||
			r.TTL < most-10*time.Second || r.Record != "" {
			t.Errorf("%s: %+v", digit, r)
		}
	}
	if reply, err := s.extendReader("a", false); err != nil || reply != driver.ExtendDone {
		t.Fatalf("asking changes nothing: %v, %v", reply, err)
	}
	both := []string{driver.GrantOf(token("a")), driver.GrantOf(token("d"))}
	marked, err := s.revoke(driver.RevokeRequest{Readers: both, Record: "ops|1|first"}, "")
	if a, d := find(marked, "a"), find(marked, "d"); err != nil || !a.Held || a.Record != "ops|1|first" || d.Held ||
		d.TTL != 0 || d.Record != "ops|1|first" || find(marked, "b").Record != "" {
		t.Fatalf("marked: %+v, %v", marked, err)
	}
	again, err := s.revoke(driver.RevokeRequest{Readers: both[:1], Record: "ops|2|second"}, "")
	if err != nil || find(again, "a").Record != "ops|1|first" {
		t.Errorf("marked again: %+v, %v", again, err)
	}
	before := s.client.HGet(t.Context(), s.keys.lock, token("a")).Val()
	for _, refill := range []bool{false, true} {
		for _, digit := range []string{"a", "d"} {
			_, err := s.extendReader(digit, refill)
			if mark, ok := errors.AsType[*driver.RevokedError](err); !ok || mark.Record != "ops|1|first" {
				t.Errorf("extend of %s, refill %v: %v", digit, refill, err)
			}
		}
		if reply, err := s.extendReader("b", refill); err != nil || reply != driver.ExtendDone {
			t.Errorf("extend of who was not marked: %v, %v", reply, err)
		}
	}
	if after := s.client.HGet(t.Context(), s.keys.lock, token("a")).Val(); after != before {
		t.Errorf("the reader is %q after a refused extend, and was %q", after, before)
	}
	if reply, err := s.acquireShared("d", driver.Read); !errors.Is(err, driver.ErrTombstone) {
		t.Errorf("a late acquire: %+v, %v", reply, err)
	}
	if reply, err := s.acquireShared("e", driver.Read); err != nil || !reply.Granted {
		t.Errorf("another reader: %+v, %v", reply, err)
	}
}

// TestScriptsMarksOutliveReaders, also where a reader lives longer than the marks were to.
func TestScriptsMarksOutliveReaders(t *testing.T) {
	s := newScripted(t)
	s.readers(map[string]time.Duration{"a": time.Minute, "b": time.Hour})
	grants := []string{driver.GrantOf(token("a")), driver.GrantOf(token("d"))}
	if _, err := s.revoke(driver.RevokeRequest{Readers: grants, Record: "ops|1|why"}, ""); err != nil {
		t.Fatal(err)
	}
	s.wantLeft("the mark", s.keys.tombstone(token("a")), 2*time.Hour)
	s.wantLeft("the mark of who is not there", s.keys.tombstone(token("d")), 2*time.Hour)
	if keys := s.client.Keys(t.Context(), "lockscope:*").Val(); len(keys) != 2 {
		t.Errorf("it wrote %q", keys)
	}
}

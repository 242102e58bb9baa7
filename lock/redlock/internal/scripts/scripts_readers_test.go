package scripts

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// share asks for the lock in a mode.
func (s *scripted) share(m driver.Mode, tok string) driver.AcquireReply {
	s.t.Helper()
	req := driver.AcquireRequest{
		Key: s.keys.lock, Token: tok, Holder: "host|1|", TTL: scriptTTL, Mode: m, Floor: 1, Shared: &driver.Shared{},
		Waiter: driver.Waiter{ID: "w" + tok[:1]},
	}
	return s.shared(s.scripts.AcquireIn(m), append(s.scripts.AcquireArgs(&req, unheard), ""))
}

func (s *scripted) shared(script *redisconn.Script, args []any) driver.AcquireReply {
	s.t.Helper()
	val, err := s.run(script, args)
	if err != nil {
		s.t.Fatal(err)
	}
	reply, err := parseAcquire(val)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply
}

// putReaders writes readers as rwacquire.lua does, each with this time left.
func (s *scripted) putReaders(n int, left time.Duration) {
	s.t.Helper()
	ends := time.Now().Add(left).UnixMilli()
	for i := range n {
		err := s.client.HSet(s.t.Context(), s.keys.lock, fmt.Sprintf("%032x", i+1), fmt.Sprintf("%d:7|host|1|", ends)).Err()
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestScriptsTakeOutAllReadersThatExpired, however many there are: a writer is granted, and none of them stays.
func TestScriptsTakeOutAllReadersThatExpired(t *testing.T) {
	for _, n := range []int{17, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newScripted(t)
			s.putReaders(n, -time.Minute)
			if reply := s.share(driver.Read, token("a")); !reply.Granted {
				t.Fatalf("a reader: %+v", reply)
			}
			if left := s.client.HLen(t.Context(), s.keys.lock).Val(); left != 1 {
				t.Errorf("%d readers are left", left)
			}
			if ttl := s.client.PTTL(t.Context(), s.keys.lock).Val(); ttl <= 0 || ttl > scriptTTL {
				t.Errorf("the key expires in %v", ttl)
			}
			s.client.Del(t.Context(), s.keys.lock)
			s.putReaders(n, -time.Minute)
			if reply := s.share(driver.Write, token("b")); !reply.Granted {
				t.Errorf("a writer: %+v", reply)
			}
		})
	}
}

// TestScriptsBelieveAReader whose time ends in years: nothing says that it is not valid. It keeps writers out for so
// long, which they are told, and it keeps out no reader. Nobody else's end shortens the time of the key.
func TestScriptsBelieveAReader(t *testing.T) {
	const years = 3 * 365 * 24 * time.Hour
	s := newScripted(t)
	s.putReaders(1, years)
	if reply := s.share(driver.Read, token("a")); !reply.Granted {
		t.Fatalf("a reader: %+v", reply)
	}
	reply := s.share(driver.Write, token("b"))
	if reply.Granted || reply.TTL < 30*24*time.Hour { // a reply says no more
		t.Errorf("a writer: %+v", reply)
	}
	req := driver.ReleaseRequest{Key: s.keys.lock, Token: token("a"), Mode: driver.Read}
	if val, err := s.run(s.scripts.ReleaseIn(driver.Read), s.scripts.ReleaseArgs(&req, unheard)); err != nil || val != int64(1) {
		t.Errorf("released: %v, %v", val, err)
	}
	if ttl := s.client.PTTL(t.Context(), s.keys.lock).Val(); ttl < years-time.Minute {
		t.Errorf("the key expires in %v", ttl)
	}
}

// TestScriptsPassOverABarOfYears: a bar that is renewed twice a second never ends days ahead. One of some hours counts.
func TestScriptsPassOverABarOfYears(t *testing.T) {
	for name, c := range map[string]struct {
		left    time.Duration
		granted bool
	}{
		"expired": {-time.Second, true}, "hours": {12 * time.Hour, false}, "years": {3 * 365 * 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t)
			bar := fmt.Sprintf("1:%d", time.Now().Add(c.left).UnixMilli())
			if err := s.client.HSet(t.Context(), BarsKey(s.keys.lock), "dead", bar).Err(); err != nil {
				t.Fatal(err)
			}
			if reply := s.share(driver.Read, token("a")); reply.Granted != c.granted {
				t.Errorf("%+v", reply)
			}
			if is := s.client.HExists(t.Context(), BarsKey(s.keys.lock), "dead").Val(); is == c.granted {
				t.Errorf("the bar is there: %v", is)
			}
		})
	}
}

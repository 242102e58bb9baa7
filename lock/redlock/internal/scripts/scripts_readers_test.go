package scripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// share asks for the lock in a mode.
func (s *scripted) share(m driver.Mode, tok string) driver.AcquireReply {
	s.t.Helper()
	req := driver.AcquireRequest{
		Key: s.keys.lock, Token: tok, Holder: "host|1|", TTL: scriptTTL, Mode: m, Floor: 1, Args: &driver.ArgsCache{},
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

// putReaders writes readers as rwacquire.lua does, each with this time left, but not into the index.
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

// TestScriptsDoNotReadAllReaders: what a call of a reader or a writer costs a server does not grow with the readers. Only
// what names them all, such as HGETALL, would. A reader that is granted asks so for the writers that wait.
func TestScriptsDoNotReadAllReaders(t *testing.T) {
	s := newScripted(t)
	for i := range 50 {
		req := driver.AcquireRequest{Key: s.keys.lock, Token: fmt.Sprintf("%032x", i+1), Holder: "host|1|", TTL: scriptTTL,
			Mode: driver.Read, Floor: 1, Args: &driver.ArgsCache{}, Waiter: driver.Waiter{ID: "w"}}
		if reply := s.shared(s.scripts.AcquireIn(driver.Read), append(s.scripts.AcquireArgs(&req, unheard), "")); !reply.Granted {
			t.Fatalf("%+v", reply)
		}
	}
	own := fmt.Sprintf("%032x", 7)
	counter := s.share(driver.Read, own).Counter // the same call again
	release := driver.ReleaseRequest{Key: s.keys.lock, Token: own, Mode: driver.Read, Handoff: scriptTTL}
	raise := driver.RaiseRequest{Key: s.keys.lock, Token: own, Counter: counter, Fence: counter + 5, Mode: driver.Read}
	for _, call := range []struct {
		name string
		most int
		run  func()
	}{
		{"granted", 1, func() { s.share(driver.Read, token("a")) }},
		{"granted again", 0, func() { s.share(driver.Read, own) }},
		{"extended", 0, func() {
			if reply, err := s.extendReader("a", false); err != nil || reply != driver.ExtendDone {
				t.Errorf("extended: %v, %v", reply, err)
			}
		}},
		{"raised", 0, func() {
			if val, err := s.run(s.scripts.RaiseIn(driver.Read), s.scripts.RaiseArgs(&raise)); err != nil || val != int64(1) {
				t.Errorf("raised: %v, %v", val, err)
			}
		}},
		{"a writer refused", 0, func() {
			if reply := s.share(driver.Write, token("b")); reply.Granted || reply.Holder != "host|1|" {
				t.Errorf("a writer: %+v", reply)
			}
		}},
		{"released", 0, func() {
			if val, err := s.run(s.scripts.ReleaseIn(driver.Read), s.scripts.ReleaseArgs(&release, unheard)); err != nil ||
				val != int64(1) {
				t.Errorf("released: %v, %v", val, err)
			}
		}},
	} {
		s.client.ConfigResetStat(t.Context())
		call.run()
		_, stats, _ := strings.Cut(s.client.Info(t.Context(), "commandstats").Val(), "cmdstat_hgetall:calls=")
		read := 0
		if _, err := fmt.Sscanf(stats, "%d", &read); stats != "" && err != nil || read > call.most {
			t.Errorf("%s: all readers were read", call.name)
		}
	}
	if n := s.client.HLen(t.Context(), s.keys.lock).Val(); n != 50 {
		t.Errorf("%d readers, want 50", n)
	}
}

// TestScriptsTakeOutAllReadersThatExpired, however many there are: a writer is granted, and none of them stays.
func TestScriptsTakeOutAllReadersThatExpired(t *testing.T) {
	for _, n := range []int{17, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newScripted(t)
			s.putReaders(n, -time.Minute)
			s.index(n)
			if reply := s.share(driver.Write, token("c")); !reply.Granted {
				t.Errorf("a writer after readers of the index: %+v", reply)
			}
			if n := s.client.Exists(t.Context(), indexKey(s.keys.lock)).Val(); n != 0 {
				t.Error("the index still has readers")
			}
			s.client.Del(t.Context(), s.keys.lock)
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

// index writes the readers of putReaders into the index.
func (s *scripted) index(n int) {
	s.t.Helper()
	for i := range n {
		tok := fmt.Sprintf("%032x", i+1)
		ends, _, _ := strings.Cut(s.client.HGet(s.t.Context(), s.keys.lock, tok).Val(), ":")
		if err := s.client.Do(s.t.Context(), "zadd", indexKey(s.keys.lock), 0, tok, ends, "e"+tok).Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestScriptsCountReadersThatTheIndexLacks, because it was lost or another version wrote them. They keep writers out
// until their own end, and no call of another reader shortens it. Renewed, they are in the index.
func TestScriptsCountReadersThatTheIndexLacks(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := newScripted(t)
		if reply := s.share(driver.Read, token("a")); !reply.Granted {
			t.Fatalf("%+v", reply)
		}
		s.putReaders(1, 2*scriptTTL)
		if lost {
			s.client.Del(t.Context(), indexKey(s.keys.lock))
		}
		if reply := s.share(driver.Read, token("c")); !reply.Granted {
			t.Errorf("another reader: %+v", reply)
		}
		for _, digit := range []string{"a", "c"} {
			req := driver.ReleaseRequest{Key: s.keys.lock, Token: token(digit), Mode: driver.Read}
			val, err := s.run(s.scripts.ReleaseIn(driver.Read), s.scripts.ReleaseArgs(&req, unheard))
			if err != nil || val != int64(1) {
				t.Errorf("released: %v, %v", val, err)
			}
			if reply := s.share(driver.Write, token("b")); reply.Granted || reply.TTL < scriptTTL || reply.Holder != "host|1|" {
				t.Errorf("a writer: %+v", reply)
			}
			s.wantLeft("the readers", s.keys.lock, 2*scriptTTL)
		}
		req := driver.ExtendRequest{Key: s.keys.lock, Token: fmt.Sprintf("%032x", 1), TTL: scriptTTL, Mode: driver.Read}
		val, err := s.run(s.scripts.ExtendIn(driver.Read), append(s.scripts.ExtendArgs(&req, unheard), "", ""))
		if n := s.client.ZCard(t.Context(), indexKey(s.keys.lock)).Val(); err != nil || val != int64(1) || n != 2 {
			t.Errorf("renewed: %v, %v; the index has %d members", val, err, n)
		}
	}
}

// TestScriptsRenewInTheIndex: else a reader would be taken out at its first end.
func TestScriptsRenewInTheIndex(t *testing.T) {
	s := newScripted(t)
	s.putReaders(1, scriptTTL/2)
	s.index(1)
	tok := fmt.Sprintf("%032x", 1)
	req := driver.ExtendRequest{Key: s.keys.lock, Token: tok, TTL: scriptTTL, Mode: driver.Read}
	val, err := s.run(s.scripts.ExtendIn(driver.Read), append(s.scripts.ExtendArgs(&req, unheard), "", ""))
	if err != nil || val != int64(1) {
		t.Fatalf("renewed: %v, %v", val, err)
	}
	ends, _, _ := strings.Cut(s.client.HGet(t.Context(), s.keys.lock, tok).Val(), ":")
	if at := s.client.ZScore(t.Context(), indexKey(s.keys.lock), "e"+tok).Val(); fmt.Sprintf("%.0f", at) != ends {
		t.Errorf("the index has its end at %.0f, the hash at %s", at, ends)
	}
	s.wantLeft("the index", indexKey(s.keys.lock), scriptTTL)
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

// TestScriptsLateWriterBarsNobody: a writer that gave up while another one writes does not queue, and keeps no reader out.
func TestScriptsLateWriterBarsNobody(t *testing.T) {
	s := newScripted(t)
	writer, late := token("a"), token("b")
	if reply := s.share(driver.Write, writer); !reply.Granted {
		t.Fatalf("the writer: %+v", reply)
	}
	req := driver.AcquireRequest{
		Key: s.keys.lock, Token: late, Holder: "host|1|", TTL: scriptTTL, Mode: driver.Write, Floor: 1,
		Waiter: driver.Waiter{ID: "gave-up", Enqueue: true}, Bar: scriptTTL,
	}
	s.client.Set(t.Context(), s.keys.tombstone(late), "", scriptTTL)
	if reply := s.shared(s.scripts.AcquireIn(driver.Write), append(s.scripts.AcquireArgs(&req, unheard), "")); reply.Granted ||
		reply.Ticket != 0 {
		t.Errorf("the late writer: %+v", reply)
	}
	s.client.Del(t.Context(), s.keys.lock)
	if reply := s.share(driver.Read, token("c")); !reply.Granted {
		t.Errorf("a reader behind it: %+v", reply)
	}
}

package scripts

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
)

// revoke asks a server with this marker, or marks a grant. "" lets it answer in any case.
func (s *scripted) revoke(req driver.RevokeRequest, marker string) (driver.RevokeReply, error) {
	s.t.Helper()
	req.Key = s.keys.lock
	if req.Record != "" {
		req.Keep = 3 * scriptTTL
	}
	val, err := s.run(s.scripts.Revoke, append(s.scripts.RevokeArgs(&req, unheard), marker))
	if err != nil {
		return driver.RevokeReply{}, err
	}
	return parseRevoke(&req, val)
}

// TestScriptsRevoke: a marked token is refused whatever it asks for, the lock stays, and another token is not affected.
func TestScriptsRevoke(t *testing.T) {
	s := newScripted(t)
	grant := s.granted(driver.AcquireRequest{Token: token("a")})
	seen, err := s.revoke(driver.RevokeRequest{}, "")
	if err != nil || !seen.Held || seen.Grant != driver.GrantOf(token("a")) || seen.Counter != grant.Counter ||
		seen.Holder != "host|1|" || seen.Record != "" || seen.TTL <= 0 {
		t.Fatalf("asked: %+v, %v", seen, err)
	}
	if reply, err := s.extend(driver.ExtendRequest{Token: token("a")}, ""); err != nil || reply != driver.ExtendDone {
		t.Fatalf("asking changes nothing: %v, %v", reply, err)
	}
	marked, err := s.revoke(driver.RevokeRequest{Grant: seen.Grant, Record: "ops|1|first"}, "")
	if err != nil || marked.Grant != seen.Grant || marked.Record != "ops|1|first" {
		t.Fatalf("marked: %+v, %v", marked, err)
	}
	left := s.client.PTTL(t.Context(), s.keys.lock).Val()
	var mark *driver.RevokedError
	if _, err := s.extend(driver.ExtendRequest{Token: token("a")}, ""); !errors.As(err, &mark) || mark.Record != "ops|1|first" {
		t.Errorf("extend: %v", err)
	}
	if after := s.client.PTTL(t.Context(), s.keys.lock).Val(); after > left || after <= 0 {
		t.Errorf("the lock has %v left after a refused extend, %v before", after, left)
	}
	if again, err := s.revoke(driver.RevokeRequest{Grant: seen.Grant, Record: "ops|2|second"}, ""); err != nil ||
		again.Record != "ops|1|first" {
		t.Errorf("revoked again: %+v, %v", again, err)
	}
	s.released(driver.ReleaseRequest{Token: token("a")})
	if _, err := s.extend(driver.ExtendRequest{Token: token("a"), Refill: true, Fence: 1}, ""); !errors.As(err, &mark) {
		t.Errorf("refill: %v", err)
	}
	if reply, err := s.acquire(driver.AcquireRequest{Token: token("a")}, ""); !errors.Is(err, driver.ErrTombstone) {
		t.Errorf("a late acquire: %+v, %v", reply, err)
	}
	s.granted(driver.AcquireRequest{Token: token("b")})
	if reply, err := s.extend(driver.ExtendRequest{Token: token("b")}, ""); err != nil || reply != driver.ExtendDone {
		t.Errorf("the next holder: %v, %v", reply, err)
	}
}

// TestScriptsMarkOutlivesTheLock, also where the lock lives longer than the mark was to.
func TestScriptsMarkOutlivesTheLock(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	s.client.PExpire(t.Context(), s.keys.lock, time.Hour)
	grant := driver.GrantOf(token("a"))
	if _, err := s.revoke(driver.RevokeRequest{Grant: grant, Record: "ops|1|why"}, ""); err != nil {
		t.Fatal(err)
	}
	s.wantLeft("the mark", s.keys.tombstone(token("a")), 2*time.Hour)
	s.client.Del(t.Context(), s.keys.lock)
	if free, err := s.revoke(driver.RevokeRequest{Grant: driver.GrantOf(token("b")), Record: "ops|1|why"}, ""); err != nil ||
		free.Held || free.Record != "ops|1|why" {
		t.Fatalf("where nobody holds it: %+v, %v", free, err)
	}
	s.wantLeft("the mark", s.keys.tombstone(token("b")), 3*scriptTTL)
}

// TestScriptsRevokeOnlyWhereTheyVote: a server that may have forgotten says nothing, and is not marked.
func TestScriptsRevokeOnlyWhereTheyVote(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	before := s.content()
	for _, req := range []driver.RevokeRequest{{}, {Grant: driver.GrantOf(token("a")), Record: "ops|1|why"}} {
		if reply, err := s.revoke(req, ourMarker); !errors.Is(err, driver.ErrQuarantined) || reply.Held {
			t.Errorf("%+v: %+v, %v", req, reply, err)
		}
	}
	if after := s.content(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

// TestScriptsRevokeTellOwnersApart: the lock of another library, and of readers.
func TestScriptsRevokeTellOwnersApart(t *testing.T) {
	s := newScripted(t)
	for what, write := range map[string]func(){
		"a string": func() { s.set(s.keys.lock, "another library's token") },
		"a hash":   func() { s.client.HSet(t.Context(), s.keys.lock, "owner", 1) },
		"a list":   func() { s.client.RPush(t.Context(), s.keys.lock, "1:1|") },
	} {
		write()
		if reply, err := s.revoke(driver.RevokeRequest{}, ""); err != nil || !reply.Held || reply.Grant != "" ||
			reply.ByReaders || reply.TTL >= 0 {
			t.Errorf("another library's lock, %s: %+v, %v", what, reply, err)
		}
		s.client.Del(t.Context(), s.keys.lock)
	}
	s.readers(map[string]time.Duration{"a": time.Minute})
	if reply, err := s.revoke(driver.RevokeRequest{}, ""); err != nil || !reply.Held || !reply.ByReaders ||
		reply.Grant != "" {
		t.Errorf("readers: %+v, %v", reply, err)
	}
	s.client.HSet(t.Context(), s.keys.lock, "owner", 1)
	if reply, err := s.revoke(driver.RevokeRequest{}, ""); err != nil || !reply.Held || reply.ByReaders {
		t.Errorf("another library's field beside a reader: %+v, %v", reply, err)
	}
}

func TestParseRevoke(t *testing.T) {
	ask, one := driver.RevokeRequest{}, driver.RevokeRequest{Grant: "ab", Record: "n"}
	two := driver.RevokeRequest{Readers: []string{"ab", "cd"}, Record: "n"}
	none, m, mn := []any{}, []any{"m"}, []any{"m", "n"}
	reader := []any{"cd", int64(7), "42", "h|1|"}
	for _, c := range []struct {
		req   driver.RevokeRequest
		reply any
		want  driver.RevokeReply
		err   error
	}{
		{ask, []any{int64(0), none}, driver.RevokeReply{}, nil},
		{one, []any{int64(0), m}, driver.RevokeReply{Record: "m"}, nil},
		{one, []any{int64(1), m, int64(1500), "42", "h|1|", "ab"},
			driver.RevokeReply{Held: true, Counter: 42, TTL: 15e8, Holder: "h|1|", Grant: "ab", Record: "m"}, nil},
		{ask, []any{int64(2), none, int64(-1), []any{reader}}, driver.RevokeReply{Held: true, ByReaders: true, TTL: -1e6,
			Readers: []driver.RevokeReader{{Grant: "cd", Held: true, Counter: 42, TTL: 7e6, Holder: "h|1|"}}}, nil},
		{two, []any{int64(2), mn, int64(9), []any{reader}}, driver.RevokeReply{Held: true, ByReaders: true, TTL: 9e6,
			Readers: []driver.RevokeReader{{Grant: "cd", Held: true, Counter: 42, TTL: 7e6, Holder: "h|1|", Record: "n"},
				{Grant: "ab", Record: "m"}}}, nil},
		{two, []any{int64(0), mn},
			driver.RevokeReply{Readers: []driver.RevokeReader{{Grant: "ab", Record: "m"}, {Grant: "cd", Record: "n"}}}, nil},
		{ask, []any{int64(3), none, int64(7)}, driver.RevokeReply{Held: true, TTL: 7e6}, nil},
		{ask, []any{int64(5), "voting|..."}, driver.RevokeReply{}, driver.ErrQuarantined},
		{ask, []any{int64(1), none, int64(1500), "42", "h|1|", ""}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(1), none, int64(1500), "x", "h|1|", "ab"}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(1), none, int64(1500)}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(2), none, int64(1500)}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(2), none, int64(1500), none}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(2), none, int64(1500), []any{"cd"}}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(2), none, int64(1500), []any{[]any{"cd", "7", "42", "h|1|"}}}, driver.RevokeReply{},
			driver.ErrBadReply},
		{ask, []any{int64(2), none, int64(1500), []any{[]any{"", int64(7), "42", "h|1|"}}}, driver.RevokeReply{},
			driver.ErrBadReply},
		{two, []any{int64(0), m}, driver.RevokeReply{}, driver.ErrBadReply},
		{one, []any{int64(0), none}, driver.RevokeReply{}, driver.ErrBadReply},
		{one, []any{int64(0), []any{""}}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(0), ""}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(3), none, "x"}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{int64(9), none, int64(1)}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, []any{"0", none}, driver.RevokeReply{}, driver.ErrBadReply},
		{ask, int64(0), driver.RevokeReply{}, driver.ErrBadReply},
		{ask, redis.Nil, driver.RevokeReply{}, driver.ErrBadReply},
	} {
		got, err := parseRevoke(&c.req, c.reply)
		if !errors.Is(err, c.err) || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("parseRevoke(%v) = %+v, %v; want %+v, %v", c.reply, got, err, c.want, c.err)
		}
	}
}

package scripts

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// The tests TestScript* run the Lua scripts on a real server without an engine that could hide a fault. Each tests one
// rule of a script.

// scripted is a server with the scripts as nodes send them.
type scripted struct {
	t       *testing.T
	server  int // its port
	client  *redis.Client
	scripts *Set
	keys    *keys
}

const scriptTTL = time.Minute

// unheard lets a release name waiters even if they do not listen.
var unheard = Place{marker: true, counts: countsShard}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return &scripted{t: t, server: server.Port(), client: client, scripts: New(), keys: keysOf("lock:job")}
}

// run sends a script with the arguments of a command.
func (s *scripted) run(script *redisconn.Script, args []any) (any, error) {
	return s.client.Do(s.t.Context(), append([]any{"eval", script.Source}, args[2:]...)...).Result()
}

// token returns a token of 32 digits.
func token(digit string) string { return strings.Repeat(digit, driver.TokenLength) }

// acquire asks a server with this marker for the lock. "" lets it vote in any case.
func (s *scripted) acquire(req driver.AcquireRequest, marker string) (driver.AcquireReply, error) {
	s.t.Helper()
	req.Key, req.TTL = s.keys.lock, scriptTTL
	if req.Holder == "" {
		req.Holder = "host|1|"
	}
	val, err := s.run(s.scripts.Acquire, append(s.scripts.AcquireArgs(&req, unheard), marker))
	if err != nil {
		s.t.Fatal(err)
	}
	return parseAcquire(val)
}

// granted requires that acquire succeeds.
func (s *scripted) granted(req driver.AcquireRequest) driver.AcquireReply {
	s.t.Helper()
	reply, err := s.acquire(req, "")
	if err != nil || !reply.Granted {
		s.t.Fatalf("not granted: %+v, %v", reply, err)
	}
	return reply
}

func (s *scripted) extend(req driver.ExtendRequest, fingerprint string) (driver.ExtendReply, error) {
	s.t.Helper()
	req.Key, req.TTL, req.Holder = s.keys.lock, scriptTTL, cmp.Or(req.Holder, "host|2|")
	expected := ourMarker
	if fingerprint == "" {
		expected = ""
	}
	val, err := s.run(s.scripts.Extend, append(s.scripts.ExtendArgs(&req, unheard), fingerprint, expected))
	if err != nil {
		return driver.ExtendGone, err
	}
	return parseExtend(val)
}

func (s *scripted) raise(token string, counter, fence uint64) bool {
	s.t.Helper()
	val, err := s.run(s.scripts.Raise, s.scripts.RaiseArgs(&driver.RaiseRequest{Key: s.keys.lock, Token: token,
		Counter: counter, Fence: fence}))
	if err != nil {
		s.t.Fatal(err)
	}
	return val == any(int64(1))
}

func (s *scripted) release(req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	s.t.Helper()
	req.Key = s.keys.lock
	val, err := s.run(s.scripts.Release, s.scripts.ReleaseArgs(&req, unheard))
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	return ParseRelease(val)
}

// released requires that release succeeds.
func (s *scripted) released(req driver.ReleaseRequest) driver.ReleaseReply {
	s.t.Helper()
	reply, err := s.release(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply
}

func (s *scripted) leave(waiter string) {
	s.t.Helper()
	req := &driver.LeaveRequest{Key: s.keys.lock, WaiterID: waiter, Handoff: scriptTTL}
	if _, err := s.run(s.scripts.Leave, s.scripts.LeaveArgs(req, unheard)); err != nil {
		s.t.Fatal(err)
	}
}

// get returns the value of a key, or "".
func (s *scripted) get(key string) string { return s.client.Get(s.t.Context(), key).Val() }

func (s *scripted) set(key string, value any) {
	s.t.Helper()
	if err := s.client.Set(s.t.Context(), key, value, 0).Err(); err != nil {
		s.t.Fatal(err)
	}
}

package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// TestSimulationOnRedisClient replaces no part of the lock: the real go-redis client sends the real Lua scripts. Its
// connections are in memory and cut at random; the servers run the scripts and are examined by the guard, all in the
// fake time of a bubble. Servers restart without their data. It is slower than TestSimulation and knows fewer faults.
func TestSimulationOnRedisClient(t *testing.T) {
	count := 100
	if raceEnabled || testing.Short() {
		count = 20
	}
	leases, broken := 0, 0
	began := time.Now()
	for seed := range uint64(count) {
		var h *history
		synctest.Test(t, func(t *testing.T) { h = redisHistory(t, seed+1) })
		leases += len(h.leases)
		broken += h.broken
		if len(h.violations) > 0 {
			t.Fatalf("seed %d:\n%s", seed+1, strings.Join(h.violations, "\n"))
		}
	}
	t.Logf("%d histories in %v, %d leases, %d connections broken", count, time.Since(began).Round(time.Millisecond),
		leases, broken)
	if broken == 0 {
		t.Error("nothing went wrong in any of them")
	}
}

// redisHistory runs a history on three miniredis servers.
func redisHistory(t *testing.T, seed uint64) *history {
	p := newPlan(seed, scope{nodes: []int{3}, losses: []faultKind{wiped}, resources: 1, crowds: true})
	h := &history{plan: p, began: time.Now(), logs: make(map[string]*acquireLog), regs: make(map[string]*register),
		violated: make(map[string]int)}
	var servers []*miniServer
	var names []string
	for i := range p.rates {
		servers = append(servers, newMiniServer(t, seed*10+uint64(i)))
		names = append(names, fmt.Sprintf("10.0.0.%d:6379", i+
			1)) // its own: a bubble cannot wait for a lookup
	}
	for _, s := range servers {
		s.vouch(guard.NewFingerprint(names, simMaxTTL))
	}
	var clients []*redis.Client
	for i := range p.clients {
		c := &client{index: i}
		var nodes []redis.UniversalClient
		for j, s := range servers {
			given := redis.NewClient(&redis.Options{Addr: names[j], Dialer: s.dial})
			nodes, clients = append(nodes, given), append(clients, given)
		}
		var err error
		c.redis, err = redlock.New(nodes, redlock.WithRestartQuarantine(simQuarantine),
			lock.WithInstance(fmt.Sprintf("c%d", i)),
			engine.WithClock(func() time.Duration { return time.Since(h.began) }),
			lock.WithMaxTTL(simMaxTTL), lock.WithDefaults(lock.TTL(simMaxTTL)),
			lock.WithPollInterval(p.clients[i].poll))
		if err != nil {
			t.Fatal(err)
		}
		c.locker = c.redis
		h.clients = append(h.clients, c)
	}
	var work, cuts sync.WaitGroup
	stop := make(chan struct{})
	for i, s := range servers {
		cuts.Go(func() { s.cutConnections(rand.New(rand.NewPCG(seed, uint64(i))), stop) })
		work.Go(func() {
			for _, f := range p.nodes[i] {
				time.Sleep(f.after)
				s.restartEmpty()
			}
		})
	}
	for i, c := range p.clients {
		for w, ops := range c.workers {
			work.Go(func() { h.worker(i, w, ops) })
		}
	}
	work.Wait()
	close(stop)
	cuts.Wait()
	for range 3 { // the first request begins a quarantine, and a later one ends it
		for _, c := range h.clients {
			if lease, err := c.redis.Acquire(context.Background(), "after", lock.NoWait()); err == nil {
				_ = lease.Release(context.Background())
			}
		}
		time.Sleep(simQuarantine + 50*time.Millisecond)
	}
	time.Sleep(simMaxTTL)
	h.checkLiveness()
	time.Sleep(2 * time.Second)
	for i, s := range servers {
		for _, key := range s.redis.Keys() {
			if strings.HasPrefix(key, lock.DefaultPrefix) {
				h.violate("I7 node %d still has %s after all was released", i, key)
			}
		}
	}
	for _, c := range h.clients {
		if err := c.redis.Close(); err != nil {
			h.violate("Close: %v", err)
		}
	}
	for _, c := range clients {
		_ = c.Close()
	}
	for _, s := range servers {
		s.redis.Close()
		h.broken += s.broken
	}
	h.checkLeases()
	return h
}

// miniServer is a miniredis in the bubble's time, with its connections.
type miniServer struct {
	redis *miniredis.Miniredis

	mu      sync.Mutex
	now     time.Time // the age of keys
	started time.Time
	run     int // restarts
	conns   []net.Conn
	seed    uint64 // 0: connections no longer break on their own
	dialled int
	broken  int // in mid-command
}

func newMiniServer(t *testing.T, seed uint64) *miniServer {
	s := &miniServer{redis: miniredis.NewMiniRedis(), now: time.Now(), started: time.Now().Add(-time.Hour), seed: seed}
	conn, err := s.redis.Dial() // starts the server side
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	// TIME follows the bubble's clock. TTLs have to be advanced by the time that has passed. Commands of scripts pass
	// here, too, with the server locked.
	s.redis.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		switch cmd {
		case "EVAL", "EVALSHA":
			s.age()
		case "INFO": // miniredis does not identify itself
			p.WriteBulk(s.info())
			return true
		}
		return false
	})
	return s
}

func (s *miniServer) info() string {
	id := s.runID()
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("run_id:%s\r\nuptime_in_seconds:%d\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n", id,
		time.Now().Unix()-s.started.Unix())
}

func (s *miniServer) runID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%p.%d", s, s.run)
}

// vouch lets the server vote at once, until it restarts.
func (s *miniServer) vouch(f guard.Fingerprint) {
	_ = s.redis.Set(guard.MarkerKey, "voting|"+string(f)+"|"+s.runID()+"|0")
}

// restartEmpty restarts the server without its data.
func (s *miniServer) restartEmpty() {
	s.mu.Lock()
	s.run++
	s.started = time.Now()
	s.mu.Unlock()
	s.cut(false) // bytes on an old connection must not reach the new process
	s.redis.FlushAll()
}

func (s *miniServer) age() {
	s.mu.Lock()
	passed := time.Since(s.now)
	s.now = s.now.Add(passed)
	s.mu.Unlock()
	if passed > 0 {
		s.redis.FastForward(passed)
	}
}

func (s *miniServer) dial(context.Context, string, string) (net.Conn, error) {
	conn, err := s.redis.Dial()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	flaky := &flakyConn{Conn: conn, server: s}
	if s.seed != 0 {
		flaky.r = rand.New(rand.NewPCG(s.seed, uint64(s.dialled)))
	}
	s.dialled++
	s.conns = append(s.conns, flaky)
	return flaky, nil
}

// cutConnections closes all connections at random instants.
func (s *miniServer) cutConnections(r *rand.Rand, stop <-chan struct{}) {
	for {
		timer := time.NewTimer(upTo(r, time.Second))
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			s.cut(true)
			return
		}
		s.cut(false)
	}
}

func (s *miniServer) cut(forGood bool) {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	if forGood {
		s.seed = 0
	}
	s.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}

// flakyConn breaks at random, before a command is sent or before its reply is read: the client cannot tell which.
// Delays are not simulated: go-redis holds a mutex meanwhile, which would stop the bubble's clock.
type flakyConn struct {
	net.Conn
	server *miniServer
	r      *rand.Rand // nil: never
}

func (c *flakyConn) breaks() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.r == nil || !chance(c.r, 0.03) {
		return false
	}
	c.server.broken++
	return true
}

func (c *flakyConn) Write(b []byte) (int, error) {
	if c.breaks() {
		_ = c.Close()
	}
	return c.Conn.Write(b)
}

func (c *flakyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.breaks() {
		_ = c.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

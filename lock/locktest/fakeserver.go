package locktest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// FakeServer is a Redis server in memory, with the features that package redlock uses: the same scripts, the
// same expiry, and a clock of its own. It can be paused, crash, and come back empty. Clients connect with
// [FakeServer.Connect].
//
// It works inside and outside a testing/synctest bubble. A server made in a bubble belongs to the bubble.
type FakeServer struct {
	name string
	born time.Time
	rate float64

	mu       sync.Mutex
	state    *memstate.State
	snapshot *memstate.State // what RestartStale brings back
	links    map[*FakeNode]struct{}
	run      int // grows with every crash: requests to an earlier run are gone
	down     bool
	stepped  time.Duration // how far the clock was moved by hand
	started  int64         // the server's TIME when its process began
	master   *FakeServer   // that it replicates; nil if it is a master itself
	aof      bool
	paused   chan struct{} // closed by Resume; nil while running
	silent   time.Time     // may not vote before
	closed   chan struct{}
	watch    func(Event)
	named    func(waiter, lockKey string)
	shortest time.Duration // TTL ever given to a lock key
	longest  time.Duration

	late sync.WaitGroup // requests under way that nobody waits for
}

// Event is an event on a server, for a trace that people read.
type Event struct {
	Server string
	What   string // "acquire", "crash"
	Detail string
}

// ServerOption configures NewFakeServer.
type ServerOption func(*FakeServer)

// WithRate makes the server's clock run rate times as fast as the true one.
func WithRate(rate float64) ServerOption { return func(s *FakeServer) { s.rate = rate } }

// WithWatch calls watch with every event on the server. watch must not call the server.
func WithWatch(watch func(Event)) ServerOption { return func(s *FakeServer) { s.watch = watch } }

// WithNamed calls named with each waiter for which a lock is kept, and that the server can tell. named must not call
// the server.
func WithNamed(named func(waiter, lockKey string)) ServerOption {
	return func(s *FakeServer) { s.named = named }
}

// NewFakeServer starts a server. Close it when you are done with it.
func NewFakeServer(name string, opts ...ServerOption) *FakeServer {
	s := &FakeServer{
		name: name, born: time.Now(), rate: 1, state: memstate.New(),
		links: make(map[*FakeNode]struct{}), closed: make(chan struct{}),
	}
	s.started = s.nowUS()
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Name returns the server's name.
func (s *FakeServer) Name() string { return s.name }

// Close ends the server and all its goroutines. It drops the requests under way.
func (s *FakeServer) Close() {
	s.mu.Lock()
	s.run++
	s.down = true
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	s.mu.Unlock()
	s.late.Wait()
}

// Pause stops the server, as SIGSTOP does: requests pile up, and keys keep expiring.
func (s *FakeServer) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused == nil {
		s.paused = make(chan struct{})
		s.tell("pause", "")
	}
}

// Resume lets a paused server run again. It first executes the requests that piled up.
func (s *FakeServer) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused != nil {
		close(s.paused)
		s.paused = nil
		s.tell("resume", "")
	}
}

// Crash ends the server's process. Calls fail at once until Restart, and requests under way never take
// effect. A paused server is no longer paused.
func (s *FakeServer) Crash() {
	s.Resume()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run++
	s.down = true
	for link := range s.links {
		link.deaf()
	}
	s.tell("crash", "")
}

// Restart brings a crashed server back with its data, as with appendfsync always. Clients subscribe again
// by themselves, a little later.
func (s *FakeServer) Restart() { s.restart(0, func() *memstate.State { return s.state }) }

// RestartEmpty brings a crashed server back without data. It does not vote during the quarantine for a node
// that has no guard, as a guard would decide.
func (s *FakeServer) RestartEmpty(quarantine time.Duration) { s.restart(quarantine, memstate.New) }

// RestartStale brings a crashed server back with the data of the last Snapshot.
func (s *FakeServer) RestartStale() {
	s.restart(0, func() *memstate.State {
		if s.snapshot == nil {
			return memstate.New()
		}
		return s.snapshot.Clone()
	})
}

func (s *FakeServer) restart(quarantine time.Duration, load func() *memstate.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = load()
	s.down, s.master, s.started = false, nil, s.nowUS()
	if until := time.Now().Add(quarantine); until.After(s.silent) {
		s.silent = until // a quarantine under way goes on
	}
	for link := range s.links {
		link.resubscribe(s.run)
	}
	s.tell("restart", "quarantine %v", quarantine)
}

// tell expects the mutex to be held, so that events come in order.
func (s *FakeServer) tell(what, format string, args ...any) {
	if s.watch != nil {
		s.watch(Event{Server: s.name, What: what, Detail: fmt.Sprintf(format, args...)})
	}
}

// nowUS is the server's TIME in microseconds.
func (s *FakeServer) nowUS() int64 {
	return s.born.UnixMicro() + s.stepped.Microseconds() + int64(float64(time.Since(s.born).Nanoseconds())*s.rate/1000)
}

// errGone says that the process that got the request is no more.
var errGone = errors.New("locktest: connection lost")

// execute runs do at once, if the server is still in that run. If it is paused,
// it returns what to wait for instead.
func (s *FakeServer) execute(conn connection, do func(*commands)) (paused <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.run != conn.run:
		return nil, errGone
	case s.paused != nil:
		return s.paused, nil
	}
	do(&commands{
		Instant: *s.state.At(s.nowUS(), s.publish), sight: conn.sight, readOnly: s.master != nil, info: s.info,
	})
	return nil, nil
}

// afterwards runs do d from now, for a caller that has given up by then.
func (s *FakeServer) afterwards(conn connection, d time.Duration, do func(*commands)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != conn.run {
		return
	}
	s.late.Go(func() {
		if !slept(d, s.closed) {
			return
		}
		for {
			paused, err := s.execute(conn, do)
			if err != nil || paused == nil {
				return
			}
			select {
			case <-paused:
			case <-s.closed:
				return
			}
		}
	})
}

// publish is called by scripts, with the mutex held.
func (s *FakeServer) publish(waiter, lockKey string) (ears int) {
	for link := range s.links {
		if link.hears(waiter) {
			link.deliver(lockKey)
			ears++
		}
	}
	if ears > 0 && s.named != nil {
		s.named(waiter, lockKey)
	}
	s.tell("publish", "%.6s %s: %d", waiter, lockKey, ears)
	return ears
}

// commands are what a server does at one instant, on one connection.
type commands struct {
	memstate.Instant
	sight    guard.Sight   // of the connection
	readOnly bool          // a replica: every script of package redlock writes, or might
	info     func() string // INFO
}

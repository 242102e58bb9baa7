package live

import (
	"fmt"
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Board records what the lockers it wraps do. Its zero value is not usable: see
// New. It is safe for concurrent use, and needs no closing.
type Board struct {
	cfg     config
	seed    maphash.Seed
	shards  [shards]shard
	waits   waits
	nodes   nodes
	slowest slowest
	buffers sync.Pool // of *buffer

	deadlocks deadlocks
	sets      sets
	instances atomic.Pointer[map[string]bool] // names of lockers; replaced, never changed
}

// shards bounds how many calls contend for one mutex. A resource has one shard.
const shards = 32

// New makes a Board on which nothing has happened yet. It fails with
// ErrInvalidOption for a nil option or a value that is not usable.
func New(opts ...Option) (*Board, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	b := &Board{cfg: cfg, seed: maphash.MakeSeed()}
	b.waits.init(cfg.window)
	b.slowest.n = cfg.slowest
	b.buffers.New = func() any { return new(buffer) }
	return b, nil
}

// Wrap returns a Locker that behaves as next does and records on b. Several
// lockers may record on one Board; one Locker should be wrapped once.
//
// It fails with ErrInvalidOption for a nil next, a nil option or a value that is
// not usable.
func (b *Board) Wrap(next lock.Locker, opts ...WrapOption) (lock.Locker, error) {
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to wrap is nil", ErrInvalidOption)
	}
	l := &locker{board: b, next: next, instance: b.cfg.instance}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: nil WrapOption", ErrInvalidOption)
		}
		opt(l)
	}
	if l.instance == "" {
		return nil, fmt.Errorf("%w: WithLockerInstance: it is empty", ErrInvalidOption)
	}
	l.instance = storedName(l.instance)
	b.name(l.instance)
	l.layer = decorate.NewLayer(l.newHooks())
	return l, nil
}

// name makes an instance one of those that the Board's lockers have.
func (b *Board) name(instance string) {
	for {
		old := b.instances.Load()
		names := map[string]bool{instance: true}
		if old != nil {
			maps.Copy(names, *old)
		}
		if b.instances.CompareAndSwap(old, &names) {
			return
		}
	}
}

// names reports that a locker of the Board has that name.
func (b *Board) names(instance string) bool {
	names := b.instances.Load()
	return names != nil && (*names)[instance]
}

// shard has the calls and leases of some resources.
type shard struct {
	mu            sync.Mutex
	waiting, held list
	contended     map[id]*history // of few resources; nil until somebody waits
	_             [64]byte        // keeps shards out of each other's cache lines
}

func (b *Board) shardOf(resource string) *shard {
	return &b.shards[maphash.String(b.seed, resource)%shards]
}

// list links leases in the order they were added. It is guarded by the mutex of
// its shard, and unlike a map it takes no memory for what has left it.
type list struct {
	first, last *lease
	n           int
}

func (l *list) add(m *lease) {
	m.in, m.before, m.after = l, l.last, nil
	if l.last == nil {
		l.first = m
	} else {
		l.last.after = m
	}
	l.last = m
	l.n++
}

// remove does nothing if m is in another list or none.
func (l *list) remove(m *lease) {
	if m.in != l {
		return
	}
	if m.before == nil {
		l.first = m.after
	} else {
		m.before.after = m.after
	}
	if m.after == nil {
		l.last = m.before
	} else {
		m.after.before = m.before
	}
	m.in, m.before, m.after = nil, nil, nil
	l.n--
}

func (s *shard) wait(m *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.add(m)
}

// hold makes a waiter a holder.
func (s *shard) hold(m *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.remove(m)
	s.held.add(m)
}

// lose is drop for a lease that ended and was not given back.
func (s *shard) lose(m *lease) {
	s.mu.Lock()
	m.lost = true
	s.mu.Unlock()
	s.drop(m)
}

// drop forgets m, whatever it was; a second time it does nothing.
func (s *shard) drop(m *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.contended) > 0 && m.in == &s.held {
		s.note(m)
	}
	s.waiting.remove(m)
	s.held.remove(m)
}

// seconds is how durations are told.
func seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// contain keeps a panic of what is only read, a caller's span or error perhaps,
// from reaching those who lock. It must be deferred itself.
func contain() { _ = recover() }

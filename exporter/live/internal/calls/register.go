package calls

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// shards bounds how many calls contend for one mutex. A resource has one shard, and so have all slots of a semaphore:
// a caller that waits for one waits for all.
const shards = 32

// Register has all calls and leases of a Board. It is safe for concurrent use.
type Register struct {
	Records
	seed   maphash.Seed
	shards [shards]shard
}

// NewRegister makes an empty Register. Calls that end are counted in these records. timelines is how many contended
// resources have one.
func NewRegister(w *waits.Waits, s *timeline.Slowest, p *profile.Recorder, timelines int) *Register {
	r := &Register{Records: Records{Waits: w, Slowest: s, Profile: p}, seed: maphash.MakeSeed()}
	r.Timeline = timeline.New(timelines, r.Instances.Has)
	return r
}

func (r *Register) shardOf(resource string) *shard {
	if semaphore, _, ok := records.ParseSlot(resource); ok {
		resource = semaphore
	}
	return &r.shards[maphash.String(r.seed, resource)%shards]
}

// Begin registers a call of Acquire. It makes one allocation for the context that the wrapped Locker gets and the
// lease that may follow.
func (r *Register) Begin(ctx context.Context, owner *Owner, resource string) *Lease {
	s := r.shardOf(resource)
	m := &Lease{Call: Call{Owner: owner, resource: resource, Began: time.Now(), shard: s}}
	m.Start(ctx, owner.Layer, &m.Call)
	m.clock.Start(m.Began)
	m.ReadTrace(ctx)
	s.wait(m)
	return m
}

// each locks one shard after the other.
func (r *Register) each(do func(*shard)) {
	for i := range r.shards {
		func(s *shard) {
			s.mu.Lock()
			defer s.mu.Unlock()
			do(s)
		}(&r.shards[i])
	}
}

// Busy reports whether a call is under way.
func (r *Register) Busy() (busy bool) {
	r.each(func(s *shard) { busy = busy || s.waiting.n > 0 })
	return busy
}

// Look is a Register at one instant: all unfinished calls, the oldest leases, and every lease of a shard with
// waiters.
type Look struct {
	Now     time.Time
	Waiting []Waiter // longest first
	Oldest  []*Lease // that are held
	Held    int      // how many are
	Wanted  []*Lease // among them all those whose resource somebody wants
}

// Look copies pointers while it locks a shard, and reads them afterwards. It charges the time that the calls have
// waited so far.
func (r *Register) Look(now time.Time, limit int) *Look {
	l := &Look{Now: now}
	var waiting []*Lease
	r.each(func(s *shard) {
		l.Held += s.held.n
		l.Oldest = s.held.copy(l.Oldest, limit)
		if s.waiting.n > 0 {
			s.lines.charge(now)
			waiting = s.waiting.copy(waiting, s.waiting.n)
			l.Wanted = s.held.copy(l.Wanted, s.held.n)
		}
	})
	l.Oldest = oldest(l.Oldest, func(m *Lease) time.Time { return m.HeldAt })
	l.Oldest = l.Oldest[:min(limit, len(l.Oldest))]
	l.Waiting = make([]Waiter, len(waiting))
	for i, m := range oldest(waiting, func(m *Lease) time.Time { return m.Began }) {
		m.charge(now)
		l.Waiting[i] = Waiter{m, m.view()}
	}
	return l
}

// UnderWay returns the waits of all unfinished calls until now, also of those that have just begun.
func (r *Register) UnderWay(now time.Time) (all []profile.Wait) {
	r.each(func(s *shard) {
		s.lines.charge(now)
		for m := s.waiting.first; m != nil; m = m.after {
			m.charge(now)
			if w := m.soFar(now); w.Spent != nil {
				all = append(all, w)
			}
		}
	})
	return all
}

// oldest sorts by age, and leases of one age by name.
func oldest(all []*Lease, since func(*Lease) time.Time) []*Lease {
	slices.SortFunc(all, func(x, y *Lease) int {
		return cmp.Or(since(x).Compare(since(y)), strings.Compare(x.resource, y.resource))
	})
	return all
}

// Records count ended calls and name the lockers.
type Records struct {
	Waits     *waits.Waits
	Slowest   *timeline.Slowest
	Profile   *profile.Recorder
	Timeline  *timeline.Recorder
	Instances Instances
}

// Owner is the locker of calls and leases.
type Owner struct {
	Instance string
	Layer    *decorate.Layer
	Records  *Records
}

// Instances are the names of the lockers.
type Instances struct {
	mu  sync.RWMutex
	all map[string]bool
}

// Add adds an instance.
func (s *Instances) Add(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]bool)
	}
	s.all[instance] = true
}

// Has reports whether a locker has that name.
func (s *Instances) Has(instance string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[instance]
}

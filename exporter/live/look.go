package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// look is a Board at one instant: all calls that have not ended, the oldest leases, and
// every lease whose resource somebody wants.
type look struct {
	board   *Board
	now     time.Time
	waiting []waiter // longest first
	held    crowd
	wanted  map[id]*contention
}

// waiter is a call that has not ended, and what it did at that instant.
type waiter struct {
	*lease
	view
}

// contention is a resource that calls want.
type contention struct {
	id
	waiters []*waiter // longest first
	holders []holder  // leases of the Board, latest first
	blocks  bool      // somebody waits, and is not just making a first attempt
	heads   map[*locker]*waiter
}

// holder is a lease of the Board that has not ended.
type holder struct {
	*lease
	told Held
}

// unhindered is how long a first attempt may take without being called a wait.
const unhindered = 100 * time.Millisecond

// crowd is the oldest of those who hold, and how many there are.
type crowd struct {
	oldest []*lease
	n      int
}

// look copies pointers while it keeps others out of a shard, and reads them afterwards.
func (b *Board) look(now time.Time) *look {
	l := &look{board: b, now: now, wanted: make(map[id]*contention)}
	var waiting, held []*lease
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		l.held.n += s.held.n
		l.held.oldest = s.held.copy(l.held.oldest, b.cfg.maxShown)
		if s.waiting.n > 0 {
			waiting = s.waiting.copy(waiting, s.waiting.n)
			held = s.held.copy(held, s.held.n)
		}
		s.mu.Unlock()
	}
	l.held.oldest = oldest(l.held.oldest, func(m *lease) time.Time { return m.heldAt })
	l.held.oldest = l.held.oldest[:min(b.cfg.maxShown, len(l.held.oldest))]
	l.readWaiting(oldest(waiting, func(m *lease) time.Time { return m.began }))
	l.readHolders(held)
	return l
}

// copy appends the first so many of a list.
func (l *list) copy(to []*lease, limit int) []*lease {
	for m := l.first; m != nil && limit > 0; m = m.after {
		to = append(to, m)
		limit--
	}
	return to
}

// oldest sorts by age, and those of one age by name.
func oldest(all []*lease, since func(*lease) time.Time) []*lease {
	slices.SortFunc(all, func(x, y *lease) int {
		return cmp.Or(since(x).Compare(since(y)), strings.Compare(x.resource, y.resource))
	})
	return all
}

func (l *look) readWaiting(all []*lease) {
	l.waiting = make([]waiter, len(all))
	for i, m := range all {
		w := &l.waiting[i]
		w.lease, w.view = m, m.view()
		of := w.id()
		c := l.wanted[of]
		if c == nil {
			c = &contention{id: of}
			l.wanted[of] = c
		}
		c.waiters = append(c.waiters, w)
		c.blocks = c.blocks || w.waits(l.now)
	}
}

// waits is false for a call that is merely on its way.
func (w *waiter) waits(now time.Time) bool {
	return w.doing != doingAttempt || w.blocker != nil || w.attempts > 1 || w.lastErr != nil || w.waited(now) >= unhindered
}

func (w *waiter) waited(now time.Time) time.Duration { return max(now.Sub(w.began), 0) }

func (l *look) readHolders(held []*lease) {
	for _, m := range held {
		c := l.wanted[m.id()]
		if c == nil {
			continue
		}
		if told, ok := m.tell(l.now); ok {
			c.holders = append(c.holders, holder{m, told})
		}
	}
	for _, c := range l.wanted {
		slices.SortStableFunc(c.holders, func(x, y holder) int { return y.heldAt.Compare(x.heldAt) })
	}
}

// view is what a waiter does at one instant.
type view struct {
	backend  string
	hooked   bool
	doing    lock.WaitKind
	attempts int
	ahead    int
	trace    trace.TraceID
	origin
	lastErr error
	blocker *lock.HeldError
	toldAt  time.Time
	asOf    time.Time
}

func (c *call) view() view {
	c.mu.Lock()
	defer c.mu.Unlock()
	return view{
		backend: c.backend, hooked: c.Hooked(), doing: c.doing, attempts: c.attempts, ahead: c.ahead, trace: c.trace,
		origin: c.from(), lastErr: c.lastErr, blocker: c.blocker, toldAt: c.began.Add(c.toldAt), asOf: c.began.Add(c.asOf),
	}
}

package calls

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// foreverFrom is the remaining validity from which a lease counts as never expiring.
const foreverFrom = 10 * 365 * 24 * time.Hour

// Lease is a lock.Lease on a Board. Before it is held it stands for the call that waits for it.
type Lease struct {
	Call
	decorate.Lease
	returned bool      // Acquire has
	HeldAt   time.Time // when it was acquired

	entry // guarded by the shard's mutex
}

var (
	_ lock.Lease     = (*Lease)(nil)
	_ decorate.Ender = (*Lease)(nil)
)

// Failed ends a call that got no lease.
func (m *Lease) Failed(err error, opts []lock.AcquireOption) {
	m.returned = true
	m.shard.drop(m, false)
	m.finish(err, m.failure(err, opts))
}

// Acquired makes the call the holder of its lease.
func (m *Lease) Acquired(inner lock.Lease) *Lease {
	m.returned = true
	m.Begin(&m.Call.Call, inner, m)
	m.HeldAt = m.finish(nil, waits.Acquired)
	if got := inner.Resource(); got != m.resource {
		m.got.Store(&got)
	}
	m.shard.hold(m)
	m.Watch()
	return m
}

// Abandoned forgets a call that neither failed nor acquired, because it panicked or ended its goroutine.
func (m *Lease) Abandoned() {
	if !m.returned {
		m.shard.drop(m, false)
		m.abandon()
	}
}

// Extend implements lock.Lease. If the Locker has hooks, a hook counts the round, as for automatic renewal.
func (m *Lease) Extend(ctx context.Context) error {
	err := m.Lease.Extend(ctx)
	if err == nil && !m.Hooked() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.extends, m.extended = m.extends+1, time.Since(m.Began)
	}
	return err
}

// Release implements lock.Lease. The lease leaves the Board before it is released, because somebody else may hold the
// lock from then on. If its context ended earlier, it has left already, and the nodes keep the lock until this release.
func (m *Lease) Release(ctx context.Context) error {
	if !m.StartRelease() || m.end(false) {
		return m.Next().Release(ctx)
	}
	now := time.Now()
	err := m.Next().Release(ctx)
	if err == nil {
		m.shard.released(m, now)
	}
	return err
}

// Ended implements decorate.Ender for a lease that ended without a release.
func (m *Lease) Ended(context.Context, error) { m.end(true) }

// end makes the lease leave the Board, and records it. It reports whether the lease was there.
func (m *Lease) end(lost bool) bool {
	held := m.shard.drop(m, lost)
	if held {
		m.recordLease()
	}
	return held
}

// tenure is that of a lease that ends now. kept: without a release.
func (m *Lease) tenure(now time.Time, kept bool) tenure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return tenure{
		instance: m.Owner.Instance, callSite: m.from().CallSite, trace: text.TraceID(m.Trace),
		since: m.HeldAt, until: now, kept: kept,
	}
}

// MayHaveEnded reports whether a lease of the same resource and that name has ended since, or its end would not have
// been recorded.
func (m *Lease) MayHaveEnded(of text.ID, instance string, since time.Time) bool {
	m.shard.mu.Lock()
	defer m.shard.mu.Unlock()
	h := m.shard.histories[of]
	return h == nil || h.endedSince(instance, since)
}

// Tell describes a held lease. ok is false if it has ended and is about to leave.
func (m *Lease) Tell(now time.Time) (h state.Held, ok bool) {
	defer text.Contain()
	if m.Next().Context().Err() != nil {
		return h, false
	}
	h = state.Held{
		Resource: text.Resource(m.name()), Holder: m.Owner.Instance, Age: m.Age(now).Seconds(),
		Validity: m.validity(), Fence: decorate.FenceOf(m.Next()),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h.Extends, h.TraceID, h.Nodes = m.extends, text.TraceID(m.Trace), m.known.Len()
	h.CallSite, h.Backend = text.Name(m.from().CallSite), text.Name(m.Backend)
	h.Construct = m.from().Construct()
	h.Unrenewed = m.unrenewed(h.Validity, now)
	return h, true
}

// late is the part of a lease's full validity after which it should have been renewed: renewal is due after a third.
const late = .45

// unrenewed is for how long a lease has not been renewed; nil while that is as it should be, if nothing renews it, or if
// no hook reports renewals. mu must be held.
func (m *Lease) unrenewed(left *float64, now time.Time) *float64 {
	if left == nil || m.noRenew || !m.Hooked() {
		return nil
	}
	ago := min(now.Sub(m.HeldAt), now.Sub(m.Began.Add(m.extended))).Seconds()
	if ago <= late*(ago+*left) {
		return nil
	}
	return &ago
}

// Age is how long it has been held.
func (m *Lease) Age(now time.Time) time.Duration { return max(now.Sub(m.HeldAt), 0) }

// validity is the remaining validity; nil if the lease never expires.
func (m *Lease) validity() *float64 {
	left := m.Remaining()
	if left >= foreverFrom {
		return nil
	}
	return state.Seconds(max(left, 0))
}

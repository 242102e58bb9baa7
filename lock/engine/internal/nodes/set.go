// Package nodes has the nodes of an engine, and what all calls on them share: settings, order of calls, a record of
// how each node answers, and releases that are sent again.
package nodes

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/internal/carried"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Set is an engine's set of nodes, with what the calls on them share.
type Set struct {
	Config    *Config
	ID        string // names this process's waiter in queues
	Quorum    int
	Backend   locktrace.Backend
	Nodes     []*Node
	Names     ballot.Names
	Workers   *workers.Workers
	Timers    await.Timers
	Contended *Contention
	Releases  Pending
	Done      chan struct{} // closed by Close
	attempts  atomic.Uint64
	warm      warmUp
}

// NewSet makes a set of the driver's nodes, at least one, with a name of its own for queues.
func NewSet(c *Config, members []driver.Node, backend locktrace.Backend) *Set {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, since Go 1.24
	s := &Set{
		Config: c, ID: hex.EncodeToString(id[:]), Quorum: ballot.Quorum(len(members)), Backend: backend,
		Workers: workers.New(), Contended: NewContention(c.Clock), Done: make(chan struct{}),
	}
	for _, n := range members {
		s.Nodes = append(s.Nodes, &Node{Node: n, Set: s})
		s.Names = append(s.Names, n.Name())
	}
	return s
}

// AllCan returns why not, with the node's name, unless all nodes have a capability.
func (s *Set) AllCan(has func(driver.Capabilities) bool, whyNot error) error {
	for _, n := range s.Nodes {
		if !has(n.Capabilities()) {
			return fmt.Errorf("%s: %w", n.Name(), whyNot)
		}
	}
	return nil
}

// WarmUp waits until the nodes are ready to vote, or have failed to get ready; the vote finds out
// which. The end of ctx or of the engine cuts the wait short.
func (s *Set) WarmUp(ctx context.Context) {
	s.warm.once.Do(func() { s.warm.start(s) })
	select {
	case <-s.warm.done:
	case <-ctx.Done():
	case <-s.Done:
	}
}

// Validity is what is left of ttl for a grant asked for at instant began.
func (s *Set) Validity(ttl, began time.Duration) time.Duration {
	return ttl - Drift(ttl) - (s.Config.Clock() - began)
}

// OnlyWait is ctx if there is one node: its answer is all that the caller waits for.
func (s *Set) OnlyWait(ctx context.Context) callqueue.Waiter {
	if s.Quorum == 1 { // of one node
		return callqueue.Waiter{Context: ctx}
	}
	return callqueue.Waiter{}
}

// Closing reports that Close was called.
func (s *Set) Closing() bool {
	select {
	case <-s.Done:
		return true
	default:
		return false
	}
}

// sleep pauses unless the engine is closed; it reports whether it is not.
func (s *Set) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.Done:
		return false
	}
}

// TombstoneTTL is how long a node refuses an acquire that arrives after its release.
func (s *Set) TombstoneTTL() time.Duration { return max(s.Config.MaxTTL, time.Minute) }

// HolderRecord is the public part of the lock's value: the [lock.Holder], and a name of its own
// for each attempt. By that name an Acquire recognizes a key that its earlier attempt left.
func (s *Set) HolderRecord(since time.Time, from Origin) string {
	var name [32]byte
	unique := strconv.AppendUint(append(append(name[:0], s.ID...), '.'), s.attempts.Add(1), 36)
	return string(records.AppendHolder(make([]byte, 0, 160), s.Holder(since, from), string(unique)))
}

// Holder describes a lease of this process that began then.
func (s *Set) Holder(since time.Time, from Origin) lock.Holder {
	return lock.Holder{
		Instance: s.Config.Instance, Since: since, Traceparent: from.Traceparent, CallSite: from.CallSite,
		Page: s.Config.Page, Kind: from.Kind, Slots: from.Slots, Reason: from.Reason,
	}
}

// Origin is the place, the trace and the construct in which Acquire was called.
type Origin struct {
	Traceparent, CallSite string
	Kind                  lock.Kind
	Slots                 int
	Reason                string
}

// Traceparent is the trace that ctx carries, in the form of W3C; "" without one.
func Traceparent(ctx context.Context) string {
	s, _ := ctx.Value(carried.Traceparent{}).(string)
	return s
}

package serve

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestWaitTotals count what a majority of the nodes knows, without candidates. What a minority knows changes nothing.
func TestWaitTotals(t *testing.T) {
	now := time.Unix(1763700000, 0)
	waited := func(resource string, kind lock.Kind) listing.WaitedFor {
		says := records.Waiting{
			Holder: lock.Holder{Instance: "orders-1", Since: now.Add(-5 * time.Second), Kind: kind}, Callers: 1,
		}
		return listing.WaitedFor{
			Resource: resource, Queue: []stored.Queued{{ID: "1", Since: says.Since, Says: &says}}, Processes: 1, Callers: 1,
			At: now,
		}
	}
	b := newBlocking(slog.New(slog.DiscardHandler))
	b.observe(t.Context(), ofOne(&listing.Waits{
		Read: 2, Of: 3, Graph: waitgraph.New(),
		Locks: []listing.WaitedFor{waited("order", ""), waited("leader", lock.KindElection)},
	}), now)
	want := exporter.WaitTotals{Blocked: 1, Waiting: 1, Longest: 5 * time.Second, LastSuccess: now}
	if got := b.WaitTotals(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if parts := b.newest(nil); len(parts) != 1 || len(parts[0].Waits.Locks) != 2 {
		t.Errorf("before the first listing the page has %+v", parts)
	}
	b.observe(t.Context(), ofOne(&listing.Waits{Read: 1, Of: 3, Graph: waitgraph.New()}), now.Add(time.Minute))
	if got := b.WaitTotals(); got != want {
		t.Errorf("after a look at one of three nodes: %+v, want %+v", got, want)
	}
}

// TestBlockerThatNeverExpires has no time left, and one that does has some.
func TestBlockerThatNeverExpires(t *testing.T) {
	for ttl, never := range map[time.Duration]bool{-1: true, time.Minute: false} {
		b := blocker(&listing.Lock{
			TTL: ttl, Nodes: 1, Of: 1, Hold: inspect.Hold{Holder: lock.Holder{Instance: "orders-1"}},
		})
		if b == nil || b.NeverExpires != never || (b.Remaining == nil) != never {
			t.Errorf("with a TTL of %v: %+v", ttl, b)
		}
	}
}

// ofOne is a look at the only set.
func ofOne(w *listing.Waits) []part { return []part{{Listing: listing.Listing{Waits: w}}} }

type answering struct{}

func (answering) Node() string               { return "db" }
func (answering) Ping(context.Context) error { return nil }

// TestNotReadyBeforeAnAnswer: a server that was not asked yet proves nothing.
func TestNotReadyBeforeAnAnswer(t *testing.T) {
	p := newPings(guard.Config{}, set{other: answering{}})
	if err := p.ready(t.Context()); err == nil {
		t.Error("ready before anybody was asked")
	}
	p.roundOfOthers(t.Context())
	if err := p.ready(t.Context()); err != nil {
		t.Error(err)
	}
}

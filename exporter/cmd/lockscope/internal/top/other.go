package top

import (
	"context"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// otherTime bounds the reading of another system: longer than connecting to it takes.
const otherTime = 8 * time.Second

// otherSet is a system beside Redis: two questions a refresh. Only its task uses it.
type otherSet struct {
	called    string
	inspector inspect.Inspector
	answered  time.Time
	slowest   time.Duration
	watch     waitgraph.Watch
}

func (o *otherSet) close() { o.inspector.Close() }

func (o *otherSet) suggest([]string) {} // its waiters are read whole

func (o *otherSet) first() screen.Set {
	return screen.Set{Name: o.called, Err: errNotYet.Error(),
		Nodes: []screen.Node{{Name: o.inspector.Address(), State: state.NodeDown, Why: errNotYet.Error()}}}
}

func (o *otherSet) read(ctx context.Context) screen.Set {
	ctx, cancel := context.WithTimeout(ctx, otherTime)
	defer cancel()
	set := screen.Set{Name: o.called}
	node := screen.Node{Name: o.inspector.Address(), State: state.NodeUp}
	began := time.Now()
	_, w, err := listing.Inspect(ctx, o.inspector, &o.watch)
	if err == nil {
		o.answered, node.Latency = time.Now(), time.Since(began)
		o.slowest = max(o.slowest, node.Latency)
		set.Deadlocks = fleet.Deadlocks(w)
		set.Resources = resources(set.Name, w)
		if err := fleet.QueuesErr(w); err != nil {
			set.Err = oneLine(err)
		}
	} else {
		node.State, node.Why, set.Err = state.NodeDown, oneLine(err), oneLine(err)
	}
	node.Answered, node.Slowest = o.answered, o.slowest
	set.Nodes, set.Scan = []screen.Node{node}, screen.Scan{Done: 1, Last: time.Now()}
	set.Read = time.Now()
	return set
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

package top

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// onceFor is how long --once searches keys for queues. The frame says how far it came.
const onceFor = 5 * time.Second

// printOnce refreshes until all keys were searched or the time is up, and prints a frame.
func printOnce(ctx context.Context, a *ui.App, src *Source, order screen.Order, filter string) error {
	began := time.Now()
	snap := src.Read(ctx)
	for !whole(&snap) && time.Since(began) < onceFor && ctx.Err() == nil {
		snap = src.Read(ctx)
	}
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	frame := screen.Frame(&snap, screen.Options{
		Width: ui.Terminal(a.Out), Color: ui.Colored(a.Out, a.Env), Now: snap.At, Order: order, Filter: filter,
	})
	if _, err := fmt.Fprintln(a.Out, frame); err != nil {
		return err
	}
	return unread(&snap)
}

// whole reports whether each set was searched to its end, as far as it answers.
func whole(s *screen.Snapshot) bool {
	for i := range s.Sets {
		set := &s.Sets[i]
		if set.Read.IsZero() || set.Count(state.NodeDown) < len(set.Nodes) && !set.Scan.Whole() {
			return false
		}
	}
	return true
}

// unread says which servers could not be read.
func unread(s *screen.Snapshot) error {
	var errs []error
	for i := range s.Sets {
		set := &s.Sets[i]
		for n := range set.Nodes {
			if node := &set.Nodes[n]; node.State == state.NodeDown {
				errs = append(errs, fmt.Errorf("%s: %s is down: %s", set.Name, node.Name, node.Why))
			}
		}
		switch {
		case set.Err != "" && set.Count(state.NodeDown) == 0:
			errs = append(errs, fmt.Errorf("%s: some waiters are unknown: %s", set.Name, set.Err))
		case len(set.Nodes) > 0 && !set.Scan.Whole() && set.Count(state.NodeDown) < len(set.Nodes):
			errs = append(errs, fmt.Errorf("%s: %.0f%% of the keys were searched within %v, so locks may be missing",
				set.Name, 100*set.Scan.Done, onceFor))
		}
	}
	return errors.Join(errs...)
}

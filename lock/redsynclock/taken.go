package redsynclock

import (
	"context"
	"slices"
	"sync"

	"github.com/go-redsync/redsync/v4"
)

// takenKey is the key of a *takenPools in the context of a call.
type takenKey struct{}

// takenPools are the pools that refused one Lock of a [Mutex] when each was asked last.
type takenPools struct {
	mu    sync.Mutex
	nodes []int
}

// note records the answer of a node whose first pool has that number. taken is nil if the node granted the lock.
func (t *takenPools) note(first int, taken *redsync.ErrTaken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken == nil {
		t.nodes = slices.DeleteFunc(t.nodes, func(pool int) bool { return pool == first })
		return
	}
	for _, pool := range taken.Nodes {
		t.nodes = append(t.nodes, first+pool)
	}
	slices.Sort(t.nodes)
	t.nodes = slices.Compact(t.nodes)
}

func (t *takenPools) list() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.nodes)
}

// noteTaken tells the Mutex whose call this is, if it is one's.
func noteTaken(ctx context.Context, first int, taken *redsync.ErrTaken) {
	if t, ok := ctx.Value(takenKey{}).(*takenPools); ok {
		t.note(first, taken)
	}
}

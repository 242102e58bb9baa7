package engine

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// warmUpTimeout is the longest that the first vote waits for connections.
const warmUpTimeout = 5 * time.Second

// warmUp warms the nodes that are [driver.Warmer]s, before the first vote.
type warmUp struct {
	once sync.Once
	done chan struct{} // closed when a quorum of the nodes is ready, or all have tried
}

// await waits until the nodes are ready to vote, or have failed to get ready; the vote finds out
// which. The end of ctx or of the engine cuts the wait short.
func (w *warmUp) await(ctx context.Context, e *set) {
	w.once.Do(func() { w.start(e) })
	select {
	case <-w.done:
	case <-ctx.Done():
	case <-e.done:
	}
}

func (w *warmUp) start(e *set) {
	w.done = make(chan struct{})
	var cold []driver.Warmer
	for _, n := range e.nodes {
		if node, ok := n.Node.(driver.Warmer); ok {
			cold = append(cold, node)
		}
	}
	missing := e.quorum - (len(e.nodes) - len(cold))
	if missing <= 0 {
		close(w.done)
		return
	}
	if !e.workers.Run(func() { w.run(e, cold, missing) }) {
		close(w.done)
	}
}

// run warms the nodes until all have tried. Waiters go on once as many as are missing are ready.
func (w *warmUp) run(e *set, cold []driver.Warmer, missing int) {
	ctx, cancel := context.WithTimeout(context.Background(), warmUpTimeout)
	defer cancel()
	tried := make(chan error, len(cold))
	for _, node := range cold {
		go func() { tried <- node.Warm(ctx) }()
	}
	enough := sync.OnceFunc(func() { close(w.done) })
	defer enough()
	closing := e.done
	for left := len(cold); left > 0; {
		select {
		case err := <-tried:
			if left--; err == nil {
				missing--
			}
			if missing == 0 {
				enough()
			}
		case <-closing:
			cancel()
			closing = nil
		}
	}
}

package nodes

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

func (w *warmUp) start(s *Set) {
	w.done = make(chan struct{})
	var cold []driver.Warmer
	for _, n := range s.Nodes {
		if node, ok := n.Node.(driver.Warmer); ok {
			cold = append(cold, node)
		}
	}
	missing := s.Quorum - (len(s.Nodes) - len(cold))
	if missing <= 0 {
		close(w.done)
		return
	}
	if !s.Workers.Run(func() { w.run(s, cold, missing) }) {
		close(w.done)
	}
}

// run warms the nodes until all have tried. Waiters go on once as many as are missing are ready.
func (w *warmUp) run(s *Set, cold []driver.Warmer, missing int) {
	ctx, cancel := context.WithTimeout(context.Background(), warmUpTimeout)
	defer cancel()
	tried := make(chan error, len(cold))
	for _, node := range cold {
		go func() { tried <- node.Warm(ctx) }()
	}
	enough := sync.OnceFunc(func() { close(w.done) })
	defer enough()
	closing := s.Done
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

package nodes

import (
	"context"
	"sync"
	"time"
)

// warmUpTimeout is the longest that the first vote waits for connections.
const warmUpTimeout = 5 * time.Second

// warmUp warms the nodes before the first vote.
type warmUp struct {
	once sync.Once
	done chan struct{} // closed when a quorum of the nodes is ready, or all have tried
}

func (w *warmUp) start(s *Set) {
	w.done = make(chan struct{})
	if !s.Workers.Run(func() { w.run(s) }) {
		close(w.done)
	}
}

// run warms the nodes until all have tried. Waiters go on once a quorum is ready.
func (w *warmUp) run(s *Set) {
	ctx, cancel := context.WithTimeout(context.Background(), warmUpTimeout)
	defer cancel()
	tried := make(chan error, len(s.Nodes))
	for _, n := range s.Nodes {
		go func() { tried <- n.Warm(ctx) }()
	}
	enough := sync.OnceFunc(func() { close(w.done) })
	defer enough()
	closing := s.Done
	missing := s.Quorum
	for left := len(s.Nodes); left > 0; {
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

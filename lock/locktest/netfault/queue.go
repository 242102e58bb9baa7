package netfault

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// chunk is some bytes and the earliest time at which they may leave.
type chunk struct {
	data []byte
	due  time.Time
}

// queue is what has arrived in one direction and not left yet. It has one writer and one reader, and no bound.
type queue struct {
	changed chan struct{} // has an element after every push and end

	mu     sync.Mutex
	chunks []chunk
	bytes  int // in chunks, and in the one that next returned last until it has left
	ended  bool
}

func newQueue() *queue {
	return &queue{changed: make(chan struct{}, 1)}
}

// push copies data.
func (q *queue) push(data []byte, due time.Time) {
	q.mu.Lock()
	q.chunks = append(q.chunks, chunk{bytes.Clone(data), due})
	q.bytes += len(data)
	q.mu.Unlock()
	q.signal()
}

// end says that nothing more will be pushed.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default: // the reader has not yet seen the previous one and will see both
	}
}

// next waits for a chunk. It returns false when the queue is empty and has ended, or when ctx ends.
func (q *queue) next(ctx context.Context) (chunk, bool) {
	for {
		c, ok, ended := q.pop()
		if ok || ended {
			return c, ok
		}
		select {
		case <-q.changed:
		case <-ctx.Done():
			return chunk{}, false
		}
	}
}

func (q *queue) pop() (c chunk, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.chunks) == 0 {
		return chunk{}, false, q.ended
	}
	c, q.chunks = q.chunks[0], q.chunks[1:]
	return c, true, false
}

// left says that a chunk from next has been delivered.
func (q *queue) left(c chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(c.data)
}

// size returns how many bytes have not left.
func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

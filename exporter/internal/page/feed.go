package page

import (
	"context"
	"sync"
	"time"
)

// feeds passes documents to streams. One goroutine asks for documents while there are streams, and ends with the last
// one.
type feeds struct {
	max      int
	interval time.Duration
	ask      func(context.Context) ([]byte, error)
	running  sync.WaitGroup

	mu      sync.Mutex
	current *feed // nil while there are no streams
	closed  bool
}

// feed is one run of the goroutine. Streams that come after it has ended get a new feed.
type feed struct {
	cancel  context.CancelFunc
	streams map[*stream]struct{} // guarded by feeds.mu
	last    []byte               // guarded by feeds.mu
}

// stream receives documents. A slow reader finds only the newest. The channel is closed after the last one.
type stream struct {
	documents chan []byte
}

func (f *feeds) init(limit int, interval time.Duration, ask func(context.Context) ([]byte, error)) {
	f.max, f.interval, f.ask = limit, interval, ask
}

// join returns a stream, or false if there are too many or feeds is closed. Every joined stream must leave.
func (f *feeds) join() (*stream, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.max == 0 {
		return nil, false
	}
	if f.current == nil {
		f.start()
	}
	if len(f.current.streams) >= f.max {
		return nil, false
	}
	s := &stream{documents: make(chan []byte, 1)}
	f.current.streams[s] = struct{}{}
	if f.current.last != nil {
		s.documents <- f.current.last
	}
	return s, true
}

// start runs a new feed. f.mu is held.
func (f *feeds) start() {
	ctx, cancel := context.WithCancel(context.Background())
	current := &feed{cancel: cancel, streams: make(map[*stream]struct{})}
	f.current = current
	f.running.Go(func() { f.run(ctx, current) })
}

func (f *feeds) leave(s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil {
		return
	}
	delete(f.current.streams, s)
	if len(f.current.streams) == 0 {
		f.current.cancel()
		f.current = nil
	}
}

func (f *feeds) close() {
	f.mu.Lock()
	f.closed = true
	if f.current != nil {
		f.over(f.current) // now, not when the source returns
	}
	f.mu.Unlock()
	f.running.Wait()
}

func (f *feeds) run(ctx context.Context, current *feed) {
	defer f.end(current)
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	for {
		line, err := f.ask(ctx)
		if err != nil || ctx.Err() != nil {
			return
		}
		f.publish(current, line)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// publish gives every stream the document. It replaces one that the stream has not read.
func (f *feeds) publish(current *feed, line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	current.last = line
	for s := range current.streams {
		select {
		case <-s.documents:
		default:
		}
		s.documents <- line
	}
}

func (f *feeds) end(current *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over(current)
}

// over ends the streams of a feed. f.mu is held. A second call does nothing.
func (f *feeds) over(current *feed) {
	current.cancel()
	for s := range current.streams {
		close(s.documents)
		delete(current.streams, s)
	}
	if f.current == current {
		f.current = nil
	}
}

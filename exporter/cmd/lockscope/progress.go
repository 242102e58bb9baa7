package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

const (
	patience     = 2 * time.Second // a shorter scan needs no progress
	progressRate = 200 * time.Millisecond
	clearLine    = "\r\x1b[K"
)

// progress writes one line about a long sweep over and over. It is for terminals.
type progress struct {
	w   io.Writer
	now func() time.Time

	mu      sync.Mutex
	began   time.Time
	written time.Time // zero: nothing to clear
	nodes   map[string]scanner.Progress
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, now: time.Now, began: time.Now(), nodes: make(map[string]scanner.Progress)}
}

// report is for scanner.WithProgress.
func (p *progress) report(of scanner.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes[of.Node] = of
	now := p.now()
	if now.Sub(p.began) < patience || now.Sub(p.written) < progressRate {
		return
	}
	p.written = now
	fmt.Fprint(p.w, clearLine+p.line(now))
}

func (p *progress) line(now time.Time) string {
	var examined, keys, locks int64
	done := 0
	for _, n := range p.nodes {
		examined += n.Examined
		keys += n.Keys
		locks += n.Locks
		if n.Done {
			done++
		}
	}
	if done == len(p.nodes) {
		return fmt.Sprintf("%d locks; looking at findings again ... %v", locks, now.Sub(p.began).Round(time.Second))
	}
	percent := 0.0
	if keys > 0 {
		percent = min(100, 100*float64(examined)/float64(keys))
	}
	return fmt.Sprintf("%.0f %% of %d keys, %d locks, %d of %d nodes done, %v",
		percent, keys, locks, done, len(p.nodes), now.Sub(p.began).Round(time.Second))
}

// clear removes the line; the caller sweeps no more.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.written.IsZero() {
		fmt.Fprint(p.w, clearLine)
	}
}

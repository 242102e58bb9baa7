package scan

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

const (
	patience     = time.Second // a shorter scan needs no progress
	progressRate = 200 * time.Millisecond
	estimable    = 0.05 // of all keys: less of them says too little of the rest
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
	stop    func() // ends keepUp; nil: it does not run
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, now: time.Now, began: time.Now(), nodes: make(map[string]scanner.Progress)}
}

// keepUp writes the line anew until clear is called: while findings are given the time to
// go away, or a server is waited for, nothing is reported.
func (p *progress) keepUp() {
	ended, done := make(chan struct{}), make(chan struct{})
	p.stop = func() { close(ended); <-done }
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressRate)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				p.mu.Lock()
				p.write()
				p.mu.Unlock()
			}
		}
	}()
}

// report is for scanner.WithProgress.
func (p *progress) report(of scanner.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes[of.Node] = of
	p.write()
}

// write expects the lock to be held.
func (p *progress) write() {
	now := p.now()
	if now.Sub(p.began) < patience || now.Sub(p.written) < progressRate {
		return
	}
	p.written = now
	fmt.Fprint(p.w, clearLine+p.line(now))
}

func (p *progress) line(now time.Time) string {
	var read float64
	var keys, locks int64
	done := 0
	for _, n := range p.nodes {
		read += n.Share * float64(n.Keys)
		keys += n.Keys
		locks += n.Locks
		if n.Done {
			done++
		}
	}
	if len(p.nodes) == 0 {
		return fmt.Sprintf("waiting for an answer, %v", now.Sub(p.began).Round(time.Second))
	}
	if done == len(p.nodes) {
		return fmt.Sprintf("%d locks; confirming findings ... %v", locks, now.Sub(p.began).Round(time.Second))
	}
	share := 0.0
	if keys > 0 {
		share = read / float64(keys)
	}
	took := now.Sub(p.began)
	line := fmt.Sprintf("%.0f %% of %d keys, %d locks, %d of %d nodes done, %v", 100*share, keys, locks, done,
		len(p.nodes), took.Round(time.Second))
	if share < estimable {
		return line
	}
	left := time.Duration(float64(took) * (1 - share) / share)
	return line + fmt.Sprintf(", about %v left", max(left.Round(time.Second), time.Second))
}

// clear removes the line; the caller sweeps no more.
func (p *progress) clear() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.written.IsZero() {
		fmt.Fprint(p.w, clearLine)
	}
}

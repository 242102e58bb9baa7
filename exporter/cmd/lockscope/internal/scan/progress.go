package scan

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner/report"
)

const (
	patience     = time.Second // a shorter scan needs no progress
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
	sweep   *ui.Progress
	stop    func() // ends keepUp; nil: it does not run
}

func newProgress(w io.Writer) *progress {
	began := time.Now()
	return &progress{w: w, now: time.Now, began: began, sweep: ui.BeginProgress(began)}
}

// keepUp writes the line anew until clear is called: while findings are given the time to
// go away, or a server is waited for, nothing is reported.
func (p *progress) keepUp() {
	p.stop = ui.Every(progressRate, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.write()
	})
}

// report is for scanner.WithProgress.
func (p *progress) report(of report.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep.Take(of)
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
	e := p.sweep.Estimate(now)
	took := e.Took.Round(time.Second)
	switch {
	case e.Nodes == 0:
		return fmt.Sprintf("waiting for an answer, %v", took)
	case e.Over():
		return fmt.Sprintf("%d locks; confirming findings ... %v", e.Locks, took)
	}
	line := fmt.Sprintf("%.0f %% of %d keys, %d locks, %d of %d nodes done, %v", 100*e.Share, e.Keys, e.Locks, e.Done,
		e.Nodes, took)
	if e.Left == 0 {
		return line
	}
	return line + fmt.Sprintf(", about %v left", e.Left)
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

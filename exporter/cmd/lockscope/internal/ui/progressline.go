package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

const (
	progressAfter = time.Second // a shorter scan needs no progress
	progressRate  = 200 * time.Millisecond
	clearLine     = "\r\x1b[K"
)

// ProgressLine writes one line about a long sweep over and over. It is for terminals.
type ProgressLine struct {
	w   io.Writer
	now func() time.Time

	mu      sync.Mutex
	began   time.Time
	written time.Time // zero: nothing to clear
	sweep   *Progress
	stop    func() // ends KeepUp; nil: it does not run
}

// NewProgressLine begins with the sweep.
func NewProgressLine(w io.Writer) *ProgressLine {
	began := time.Now()
	return &ProgressLine{w: w, now: time.Now, began: began, sweep: BeginProgress(began)}
}

// KeepUp writes the line anew until Clear is called: while findings are given the time to
// go away, or a server is waited for, nothing is reported.
func (p *ProgressLine) KeepUp() {
	p.stop = Every(progressRate, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.write()
	})
}

// Report is for scanner.WithProgress.
func (p *ProgressLine) Report(of report.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep.Take(of)
	p.write()
}

// write expects the lock to be held.
func (p *ProgressLine) write() {
	now := p.now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.written) < progressRate {
		return
	}
	p.written = now
	fmt.Fprint(p.w, clearLine+p.line(now))
}

func (p *ProgressLine) line(now time.Time) string {
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

// Clear removes the line; the caller sweeps no more.
func (p *ProgressLine) Clear() {
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

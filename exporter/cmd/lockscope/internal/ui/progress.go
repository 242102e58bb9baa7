package ui

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// Estimable is the share of all keys below which too little is known of the rest.
const Estimable = 0.05

// Progress has the last progress of each node of a sweep. It is not safe for concurrent use.
type Progress struct {
	began time.Time
	nodes map[string]report.Progress
	first map[string]float64 // shares that are no work of this sweep; nil: there are none
}

// BeginProgress makes the Progress of a sweep that began then.
func BeginProgress(at time.Time) *Progress {
	return &Progress{began: at, nodes: make(map[string]report.Progress)}
}

// JoinProgress makes a Progress whose first reports are known only now. A sweep may go on where a deadline cut off the
// one before.
func JoinProgress(at time.Time) *Progress {
	s := BeginProgress(at)
	s.first = make(map[string]float64)
	return s
}

// Take takes the progress of one node.
func (s *Progress) Take(p report.Progress) {
	if _, known := s.nodes[p.Node]; !known && s.first != nil {
		s.first[p.Node] = p.Share
	}
	s.nodes[p.Node] = p
}

// Estimate is what is known of a sweep.
type Estimate struct {
	Share       float64 // of all keys, from 0 to 1
	Keys, Locks int64
	Nodes, Done int
	Took        time.Duration
	Left        time.Duration // 0: too little is known
}

// Over reports whether all nodes that were heard of have been read.
func (e *Estimate) Over() bool { return e.Nodes > 0 && e.Done == e.Nodes }

// Estimate judges by the last report of each node.
func (s *Progress) Estimate(now time.Time) Estimate {
	e := Estimate{Nodes: len(s.nodes), Took: now.Sub(s.began)}
	var read, before float64
	for name, n := range s.nodes {
		read += n.Share * float64(n.Keys)
		before += s.first[name] * float64(n.Keys)
		e.Keys += n.Keys
		e.Locks += n.Locks
		if n.Done {
			e.Done++
		}
	}
	if e.Keys == 0 {
		return e
	}
	e.Share = read / float64(e.Keys)
	if own := e.Share - before/float64(e.Keys); own >= Estimable {
		left := time.Duration(float64(e.Took) * (1 - e.Share) / own)
		e.Left = max(left.Round(time.Second), time.Second)
	}
	return e
}

// ProgressEvery is the shortest time between two lines of a ProgressLog, and before the first one.
const ProgressEvery = 10 * time.Second

// ProgressLog writes a line about a long sweep from time to time. It is for a loop of sweeps, which it tells apart by
// their nodes: when all are done, the next progress is of another sweep. It is safe for concurrent use.
type ProgressLog struct {
	logger *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	sweep   *Progress // nil: none runs
	written time.Time
}

// NewProgressLog writes to the logger at level info.
func NewProgressLog(logger *slog.Logger) *ProgressLog {
	return &ProgressLog{logger: logger, now: time.Now}
}

// Report is for scanner.WithProgress.
func (l *ProgressLog) Report(p report.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.sweep == nil || l.sweep.nodes[p.Node].Done {
		l.sweep, l.written = JoinProgress(now), now
	}
	l.sweep.Take(p)
	e := l.sweep.Estimate(now)
	if e.Over() {
		l.sweep = nil
		return
	}
	if now.Sub(l.written) < ProgressEvery {
		return
	}
	l.written = now
	left := "unknown"
	if e.Left > 0 {
		left = e.Left.String()
	}
	l.logger.Info("sweep in progress", "read", fmt.Sprintf("%.0f %%", 100*e.Share), "keys", e.Keys, "locks", e.Locks,
		"nodes_done", fmt.Sprintf("%d of %d", e.Done, e.Nodes), "took", e.Took.Round(time.Second).String(), "left", left)
}

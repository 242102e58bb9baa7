package ui

import (
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

// Estimate estimates.
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

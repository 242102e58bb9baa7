package scanner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestCancelWithAHungServer ends a sweep that waits for an answer that never comes.
func TestCancelWithAHungServer(t *testing.T) {
	f := startNodes(t, 2)
	must(t, f.clients[0].Set(within(t), "lock:a", "1", 0).Err())
	answered := make(chan struct{}, 10)
	s := newScanner(t, f.clients, scanner.WithProgress(func(p report.Progress) {
		if p.Done {
			answered <- struct{}{}
		}
	}))
	sweep(t, s)
	for len(answered) > 0 {
		<-answered
	}
	must(t, f.servers[1].Pause())
	defer func() { must(t, f.servers[1].Resume()) }()
	ctx, cancel := context.WithCancel(within(t))
	type result struct {
		report report.Report
		err    error
	}
	done := make(chan result, 1)
	go func() {
		report, err := s.Sweep(ctx)
		done <- result{report, err}
	}()
	<-answered // wait for the other one
	began := time.Now()
	cancel()
	got := <-done
	if took := time.Since(began); took > 4*time.Second || // an answer is given up after five seconds
		!errors.Is(got.err, context.Canceled) {
		t.Errorf("the sweep ended after %v: %v", took, got.err)
	}
	wantFindings(t, "known by then", append(got.report.Findings, got.report.Pending...), "no_ttl lock:a")
}

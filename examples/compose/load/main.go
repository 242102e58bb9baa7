// Command load charges orders of the order service again and again: some orders
// more often than others, over several of its processes at once, so that there is
// always somebody who waits for a lock.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is more than the service needs to refuse a charge.
const patience = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := parseFlags(os.Args[1:], os.Stdout)
	if err == nil {
		l.run(ctx, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type load struct {
	targets []string
	workers int
	orders  int
	pause   time.Duration
	report  time.Duration
	client  *http.Client

	mu      sync.Mutex
	answers map[string]int // by status since the last report
}

func parseFlags(args []string, usage io.Writer) (*load, error) {
	l := &load{client: &http.Client{Timeout: patience}, answers: make(map[string]int)}
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	targets := flags.String("targets", "http://127.0.0.1:8080",
		"`URLs` of the service's processes, separated by commas")
	flags.IntVar(&l.workers, "workers", 4, "how many charge at the same time")
	flags.IntVar(&l.orders, "orders", 8, "how many orders there are; the first ones are charged more often")
	flags.DurationVar(&l.pause, "pause", 200*time.Millisecond, "how long a worker rests after a charge, on average")
	flags.DurationVar(&l.report, "report", 30*time.Second, "how often to say what the answers were")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(usage)
			flags.PrintDefaults()
		}
		return nil, err
	}
	for target := range strings.SplitSeq(*targets, ",") {
		l.targets = append(l.targets, strings.TrimSuffix(strings.TrimSpace(target), "/"))
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return l, l.validate()
}

func (l *load) validate() error {
	for _, target := range l.targets {
		if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
			return fmt.Errorf("-targets: %q is no URL of http or https", target)
		}
	}
	if l.workers < 1 || l.orders < 1 || l.pause <= 0 || l.report <= 0 {
		return errors.New("-workers, -orders, -pause and -report must be positive")
	}
	return nil
}

// run returns when ctx has ended and each worker has its last answer.
func (l *load) run(ctx context.Context, out io.Writer) {
	var workers sync.WaitGroup
	for range l.workers {
		workers.Go(func() { l.work(ctx) })
	}
	reports := time.NewTicker(l.report)
	defer reports.Stop()
	for ctx.Err() == nil {
		select {
		case <-reports.C:
		case <-ctx.Done():
		}
		fmt.Fprintln(out, l.summary())
	}
	workers.Wait()
	l.client.CloseIdleConnections()
}

func (l *load) work(ctx context.Context) {
	for ctx.Err() == nil {
		// The smaller of two: the first of n orders is charged about 2n times as often as the last.
		order := min(rand.IntN(l.orders), rand.IntN(l.orders)) + 1
		target := l.targets[rand.IntN(len(l.targets))]
		l.charge(ctx, fmt.Sprintf("%s/orders/%d/charge", target, 1000+order))
		rest := time.NewTimer(rand.N(2 * l.pause))
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
		}
	}
}

func (l *load) charge(ctx context.Context, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		l.count("bad URL")
		return
	}
	resp, err := l.client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			l.count("no answer")
		}
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // to its end, that the connection may be used again
	l.count(resp.Status)
}

func (l *load) count(answer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[answer]++
}

// summary is what the answers were since the last one.
func (l *load) summary() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	for _, answer := range slices.Sorted(maps.Keys(l.answers)) {
		parts = append(parts, fmt.Sprintf("%s: %d", answer, l.answers[answer]))
	}
	clear(l.answers)
	if len(parts) == 0 {
		return "no answers"
	}
	return strings.Join(parts, ", ")
}

//go:build linux

// Package vitals samples what processes use while they run, and judges whether it grows: memory, goroutines,
// connections and file descriptors.
package vitals

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// Quantity is something that a process uses.
type Quantity string

// The quantities. A process has those that can be read of it: a redis-server has no goroutines.
const (
	RSS         Quantity = "memory (RSS)"
	Heap        Quantity = "heap goal" // of the garbage collector: it follows the live heap
	Used        Quantity = "used_memory"
	Goroutines  Quantity = "goroutines"
	Connections Quantity = "connections" // sockets, those that listen among them
	Descriptors Quantity = "file descriptors"
)

// Quantities are all, in the order of reports.
var Quantities = []Quantity{RSS, Heap, Used, Goroutines, Connections, Descriptors}

// Bytes reports that the quantity is memory.
func (q Quantity) Bytes() bool { return q == RSS || q == Heap || q == Used }

// Target is a process to look at.
type Target struct {
	Group, Name string
	PID         int
	Metrics     string                                              // URL of its /metrics; "" for none
	More        func(context.Context) (map[Quantity]float64, error) // what else to ask; nil for nothing
}

// Sample is one look at one process.
type Sample struct {
	T      int64                `json:"t"` // on the clock of package history
	Group  string               `json:"group"`
	Name   string               `json:"name"`
	PID    int                  `json:"pid"`
	Values map[Quantity]float64 `json:"values"`
}

// Sampler looks at processes at intervals. Use it from one goroutine, and Samples after Run.
type Sampler struct {
	Targets func() []Target // of this instant
	Every   time.Duration

	samples                             []Sample
	mu                                  sync.Mutex
	Scrapes, ScrapeBytes, FailedScrapes int
}

const (
	// atOnce is how many processes are asked at a time.
	atOnce = 4
	// patience bounds a scrape: a process may be stopped.
	patience = 3 * time.Second
)

// Run looks until ctx ends. A process that does not answer is looked at from outside alone.
func (s *Sampler) Run(ctx context.Context) {
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	for {
		s.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sampler) look(ctx context.Context) {
	targets := make(chan Target)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for t := range targets {
				s.sample(ctx, t)
			}
		})
	}
	for _, t := range s.Targets() {
		targets <- t
	}
	close(targets)
	all.Wait()
}

func (s *Sampler) sample(ctx context.Context, t Target) {
	values, err := read(t.PID)
	if err != nil {
		return // it has ended
	}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if t.Metrics != "" {
		size, err := scrape(brief, t.Metrics, values)
		if ctx.Err() != nil {
			return
		}
		s.scraped(size, err)
	}
	if t.More != nil {
		more, err := t.More(brief)
		for q, v := range more {
			if err == nil {
				values[q] = v
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, Sample{history.Now(), t.Group, t.Name, t.PID, values})
}

func (s *Sampler) scraped(size int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Scrapes, s.ScrapeBytes = s.Scrapes+1, s.ScrapeBytes+size
	if err != nil {
		s.FailedScrapes++
	}
}

// Samples are all, in the order in which they were taken.
func (s *Sampler) Samples() []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples
}

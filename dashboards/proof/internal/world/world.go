// Package world is all that dashboards and rules look at, for real: five
// redis-servers, the demo and a service in trouble that lock on them, lockscope
// serve, Prometheus with the rules, and an Alertmanager.
package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// The scrape jobs.
const (
	JobServices  = "shop"      // the demo and the service in trouble
	JobLockscope = "lockscope" // lockscope serve
)

// startLimit bounds the start of everything, building the binaries included.
const startLimit = 6 * time.Minute

// Config says what kind of world to start.
type Config struct {
	// Length is for how long the demo runs. Its faults are spread over it, and
	// without it there is nothing new to see.
	Length time.Duration
	// Rules has the rule files.
	Rules fs.FS
	// Minute, if set, is how long a minute of the rules lasts. There is no demo then, and more
	// trouble: everything that an alert is about.
	Minute time.Duration
	// Tell is called with what is going on, a line at a time.
	Tell func(format string, args ...any)
}

// World is running until Close.
type World struct {
	cfg   Config
	dir   string
	began time.Time
	ends  []func() error // what Close does, last first
	all   []*process.Process

	services                             []*service
	bill                                 *billing
	trials                               *trials
	nodes                                []node
	demo, lockscope, prometheus, manager program
}

// program is a process that serves.
type program struct {
	*process.Process
	url string
}

// Start returns when everything runs. It gives up when ctx ends, at the latest after
// six minutes, and leaves nothing behind then; ctx has no influence afterwards.
func Start(ctx context.Context, cfg Config) (w *World, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit,
		fmt.Errorf("not everything has started within %v", startLimit))
	defer cancel()
	w = &World{cfg: cfg, began: time.Now()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := redisproc.Available(); err != nil {
		return w, err
	}
	if w.dir, err = os.MkdirTemp("", "lockscope-proof-"); err != nil {
		return w, err
	}
	w.ends = append(w.ends, func() error { return os.RemoveAll(w.dir) })
	steps := []func(context.Context) error{
		w.build, w.startAlertmanager, w.startDemo, w.plant, w.StartLockscope, w.startBilling, w.startPrometheus,
	}
	if cfg.Minute > 0 {
		steps = []func(context.Context) error{
			w.build, w.startAlertmanager, w.startNodes, w.plant, w.StartLockscope, w.startBilling, w.startTrials,
			w.startPrometheus,
		}
	}
	for _, start := range steps {
		if err := start(ctx); err != nil {
			return w, err
		}
	}
	return w, nil
}

// run starts one of the programs, to be stopped by Close.
func (w *World) run(name, bin string, args ...string) (*process.Process, error) {
	dir := filepath.Join(w.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p, err := process.Start(name, dir, exec.Command(bin, args...))
	if err != nil {
		return nil, err
	}
	w.all = append(w.all, p)
	w.ends = append(w.ends, p.Stop)
	return p, nil
}

// Err tells which program has ended although the world still stands; nil if all run.
func (w *World) Err() error {
	var errs []error
	for _, p := range w.all {
		errs = append(errs, p.Err())
	}
	for _, s := range w.services {
		errs = append(errs, s.err())
	}
	return errors.Join(errs...)
}

// Age is the time since the start.
func (w *World) Age() time.Duration { return time.Since(w.began) }

// Prometheus returns its base URL, without a slash at its end.
func (w *World) Prometheus() string { return w.prometheus.url }

// Alertmanager returns its base URL, without a slash at its end.
func (w *World) Alertmanager() string { return w.manager.url }

// URLs names everything that can be looked at.
func (w *World) URLs() [][2]string {
	urls := [][2]string{
		{"prometheus", w.prometheus.url}, {"alertmanager", w.manager.url}, {"lockscope", w.lockscope.url},
		{"billing", w.bill.url},
	}
	if w.demo.Process != nil {
		urls = append(urls, [2]string{"demo", w.demo.url})
	}
	return urls
}

// KillPrometheus ends Prometheus, to see what a proof makes of it.
func (w *World) KillPrometheus() { _ = w.prometheus.Kill() }

// Close ends everything, what started last first. It needs no more than a minute.
func (w *World) Close() error {
	var errs []error
	for _, end := range slices.Backward(w.ends) {
		errs = append(errs, end())
	}
	w.ends = nil
	return errors.Join(errs...)
}

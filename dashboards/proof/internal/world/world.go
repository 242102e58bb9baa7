// Package world starts real servers for dashboards and rules to observe: five redis-servers, the demo and a
// service in trouble that lock on them, lockscope serve, Prometheus with the rules, and Alertmanager.
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

// Config configures a world.
type Config struct {
	// Length is how long the demo runs. Its faults are spread over that time. After the demo no new fault happens.
	Length time.Duration
	// Rules has the rule files.
	Rules fs.FS
	// Minute, if set, is the length of a minute of the rules. The world then has no demo, but the fault of every alert.
	Minute time.Duration
	// Native has the services keep native histograms, and Prometheus store these. The demo keeps classic ones.
	Native bool
	// Tell is called with each line of progress.
	Tell func(format string, args ...any)
}

// World is a running world. End it with Close.
type World struct {
	cfg   Config
	dir   string
	began time.Time
	ends  []func() error // what Close runs, last first
	all   []*process.Process

	services                             []*service
	bill                                 *billing
	trials                               *trials
	recovers                             []func() // faults of constructs
	nodes                                []node
	demo, lockscope, prometheus, manager program
}

// program is a server process.
type program struct {
	*process.Process
	url string
}

// Start returns when everything runs. It gives up when ctx ends or after six minutes, and then leaves nothing
// behind. The world does not depend on ctx afterwards.
func Start(ctx context.Context, cfg Config) (w *World, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit,
		fmt.Errorf("the world has not started within %v", startLimit))
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
		w.build, w.startAlertmanager, w.startDemo, w.plant, w.StartLockscope, w.startBilling, w.startConstructs,
		w.startPrometheus,
	}
	if cfg.Minute > 0 {
		steps = []func(context.Context) error{
			w.build, w.startAlertmanager, w.startNodes, w.plant, w.StartLockscope, w.startBilling, w.startTrials,
			w.startConstructs, w.startPrometheus,
		}
	}
	for _, start := range steps {
		if err := start(ctx); err != nil {
			return w, err
		}
	}
	return w, nil
}

// run starts a program. Close stops it.
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

// Err returns an error that names a program that ended, or nil if all run.
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

// Prometheus returns its base URL without a trailing slash.
func (w *World) Prometheus() string { return w.prometheus.url }

// Alertmanager returns its base URL without a trailing slash.
func (w *World) Alertmanager() string { return w.manager.url }

// URLs returns the addresses of everything that serves pages.
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

// KillPrometheus kills Prometheus, so that tests can see a proof fail.
func (w *World) KillPrometheus() { _ = w.prometheus.Kill() }

// Close stops everything in reverse order of its start, within a minute.
func (w *World) Close() error {
	var errs []error
	for _, end := range slices.Backward(w.ends) {
		errs = append(errs, end())
	}
	w.ends = nil
	return errors.Join(errs...)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/observatory"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/systems"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// demonstrate runs the workload and its faults until the time is over or ctx ends,
// and shows what came of it. Nothing it started is left when it returns.
func demonstrate(ctx context.Context, cfg config, out *screen.Screen, logs io.Writer) (err error) {
	also := func(end func() error) { err = errors.Join(err, end()) }
	b, err := cfg.system.Open(ctx, cfg.Config)
	if err != nil {
		return err
	}
	defer also(b.Close)
	urls, prefix := b.Scanned()
	o, err := observatory.Open(ctx, observatory.Config{
		Length: cfg.length, LogLevel: cfg.logLevel, URLs: urls, Prefix: prefix}, logs)
	if err != nil {
		return err
	}
	defer also(o.Close)
	url, stop, err := o.Start(context.WithoutCancel(ctx), cfg.listen)
	if err != nil {
		return err
	}
	defer also(stop)
	open := func(instance string) (workload.Process, error) {
		locker, err := b.Locker(instance)
		if err != nil {
			return nil, err
		}
		return o.Process(locker, instance)
	}
	l := ledger.New(cfg.system.Fenced)
	services, err := openServices(open, l, cfg.seed)
	defer also(func() error { return closeServices(services) })
	if err != nil {
		return err
	}
	head(out, cfg, b, services, url)

	out.Began = time.Now()
	run, cancel := context.WithDeadline(ctx, out.Began.Add(cfg.length))
	defer cancel()
	f := &faults.Faults{TTL: cfg.TTL, Length: cfg.length, Out: out, Ledger: l, Open: open}
	p := play{services: services, faults: func(ctx context.Context) ([]string, error) { return f.Run(ctx, b.Faults(f)) },
		live: func(ctx context.Context) {
			showLive(ctx, out, l, o.Board, cfg.system.Silence(), liveEvery(cfg.length))
		}}
	did, err := p.run(run, cancel)
	if ctx.Err() != nil {
		out.At(screen.Bold, "interrupted")
	}
	if total, _ := l.Acquisitions(); total == 0 && err != nil {
		return err // there is nothing to show
	}
	return errors.Join(err, conclude(out, l.Close(), append(did, leakLines(o.Leaks())...)))
}

// openServices gives every service its own lock, as if it were a process. On error
// it returns those that are to be closed.
func openServices(open func(instance string) (workload.Process, error), l *ledger.Ledger, seed uint64) (
	services []*workload.Service, err error) {
	for i, p := range workload.Profiles() {
		locker, err := open(p.Instance)
		if err != nil {
			return services, err
		}
		services = append(services, &workload.Service{Profile: p, Locker: locker, Ledger: l, Seed: seed<<8 | uint64(i)})
	}
	return services, nil
}

// closeServices closes all at once: each waits for the commands it has under way.
func closeServices(services []*workload.Service) error {
	errs := make([]error, len(services))
	var wg sync.WaitGroup
	for i, s := range services {
		wg.Go(func() { errs[i] = s.Locker.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// play is what goes on at the same time in a run.
type play struct {
	services []*workload.Service
	faults   func(context.Context) (did []string, err error)
	live     func(context.Context)
}

// run ends when ctx does. An error of any part calls stop, which has to end ctx.
func (p play) run(ctx context.Context, stop context.CancelFunc) (did []string, err error) {
	var wg sync.WaitGroup
	errs := make([]error, len(p.services)+1)
	for i, s := range p.services {
		wg.Go(func() {
			if errs[i] = s.Run(ctx); errs[i] != nil {
				stop()
			}
		})
	}
	wg.Go(func() {
		if did, errs[len(p.services)] = p.faults(ctx); errs[len(p.services)] != nil {
			stop()
		}
	})
	wg.Go(func() { p.live(ctx) })
	wg.Wait()
	return did, cmp.Or(errs...) // the others follow from the first
}

func liveEvery(length time.Duration) time.Duration {
	if length <= 10*time.Second {
		return 500 * time.Millisecond
	}
	return time.Second
}

func head(out *screen.Screen, cfg config, b systems.Backend, services []*workload.Service,
	url string) {
	for _, line := range b.Describe() {
		out.Print(screen.Plain, "%s", line)
	}
	workers := 0
	for _, s := range services {
		workers += s.Workers
	}
	out.Print(screen.Plain, "%d services with %d workers, TTL %v, for %v; Ctrl-C ends it early", len(services), workers,
		cfg.TTL, cfg.length)
	out.Print(screen.Plain, "live page %s/debug/locks, metrics %s/metrics\n", url, url)
	for _, line := range views(url, b.Reads()) {
		out.Print(screen.Plain, "%s", line)
	}
	out.Print(screen.Bold, "%s", liveHead())
}

// leakLines says what the scanner has found.
func leakLines(leaks map[string]int) (lines []string) {
	for _, key := range slices.Sorted(maps.Keys(leaks)) {
		lines = append(lines, fmt.Sprintf("%-16s %s", "scanner",
			screen.Hang(fmt.Sprintf("%s never expires, on %d nodes: a leak", inspect.KeyText(key), leaks[key]), 17)))
	}
	return lines
}

var errBroken = errors.New("the lock broke its promise: see the table")

// conclude shows the table, and fails if what the lock promises was not kept.
func conclude(out *screen.Screen, came ledger.Summary, did []string) error {
	out.Print(screen.Bold, "\n%s", came.Table[0])
	for _, line := range came.Table[1:] {
		out.Print(screen.Plain, "%s", line)
	}
	if len(did) > 0 {
		out.Print(screen.Bold, "\nwhat the faults did")
	}
	for _, line := range did {
		out.Print(screen.Plain, "%s", line)
	}
	if came.Broken {
		return errBroken
	}
	fences := "every fencing token higher than the last"
	if !came.Fenced {
		fences = "and no fencing token to check"
	}
	out.Print(screen.Green, "\n%d acquisitions checked as they happened: never two holders, %s", came.Acquisitions,
		fences)
	return nil
}

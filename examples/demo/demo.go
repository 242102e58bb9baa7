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

	"github.com/lockscope/lockscope/scanner"
)

// demonstrate runs the workload and its faults until the time is over or ctx ends,
// and shows what came of it. Nothing it started is left when it returns.
func demonstrate(ctx context.Context, cfg config, out *screen, logs io.Writer) (err error) {
	also := func(end func() error) { err = errors.Join(err, end()) }
	b, err := cfg.system.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer also(b.close)
	o, err := openObservatory(ctx, cfg, b, logs)
	if err != nil {
		return err
	}
	defer also(o.close)
	url, stop, err := o.start(context.WithoutCancel(ctx), cfg.listen)
	if err != nil {
		return err
	}
	defer also(stop)
	services, l, err := openServices(b, o, cfg)
	defer also(func() error { return closeServices(services) })
	if err != nil {
		return err
	}
	head(out, cfg, b, services, url)

	out.began = time.Now()
	run, cancel := context.WithDeadline(ctx, out.began.Add(cfg.length))
	defer cancel()
	did, err := play(run, cancel, services, &faults{cfg: cfg, out: out, backend: b, ledger: l, observatory: o})
	if ctx.Err() != nil {
		out.at(bold, "interrupted")
	}
	if total, _ := l.acquisitions(); total == 0 && err != nil {
		return err // there is nothing to show
	}
	return errors.Join(err, conclude(out, l, append(did, leakLines(o.leaks())...)))
}

// openServices gives every service its own lock, as if it were a process. On error
// it returns those that are to be closed.
func openServices(b backend, o *observatory, cfg config) (services []*service, l *ledger, err error) {
	l = newLedger(cfg.system.fenced)
	for i, p := range profiles() {
		locker, err := o.process(b, p.instance)
		if err != nil {
			return services, l, err
		}
		services = append(services, &service{profile: p, locker: locker, ledger: l, seed: cfg.seed<<8 | uint64(i)})
	}
	return services, l, nil
}

// closeServices closes all at once: each waits for the commands it has under way.
func closeServices(services []*service) error {
	errs := make([]error, len(services))
	var wg sync.WaitGroup
	for i, s := range services {
		wg.Go(func() { errs[i] = s.locker.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// play runs services, faults and live lines until ctx ends. An error of any of
// them ends all of them.
func play(ctx context.Context, stop context.CancelFunc, services []*service, f *faults) (did []string, err error) {
	var wg sync.WaitGroup
	errs := make([]error, len(services)+1)
	for i, s := range services {
		wg.Go(func() {
			if errs[i] = s.run(ctx); errs[i] != nil {
				stop()
			}
		})
	}
	wg.Go(func() {
		if did, errs[len(services)] = f.run(ctx); errs[len(services)] != nil {
			stop()
		}
	})
	wg.Go(func() {
		showLive(ctx, f.out, f.ledger, f.observatory.board, f.cfg.system.silence(), liveEvery(f.cfg.length))
	})
	wg.Wait()
	return did, cmp.Or(errs...) // the others follow from the first
}

func liveEvery(length time.Duration) time.Duration {
	if length <= 10*time.Second {
		return 500 * time.Millisecond
	}
	return time.Second
}

func head(out *screen, cfg config, b backend, services []*service, url string) {
	for _, line := range b.describe() {
		out.print(plain, "%s", line)
	}
	workers := 0
	for _, s := range services {
		workers += s.workers
	}
	out.print(plain, "%d services with %d workers, TTL %v, for %v; Ctrl-C ends it early", len(services), workers,
		cfg.ttl, cfg.length)
	out.print(plain, "live page %s/debug/locks, metrics %s/metrics\n", url, url)
	for _, line := range views(url, b.reads()) {
		out.print(plain, "%s", line)
	}
	out.print(bold, "%s", liveHead())
}

// leakLines says what the scanner has found.
func leakLines(leaks map[string]int) (lines []string) {
	for _, key := range slices.Sorted(maps.Keys(leaks)) {
		lines = append(lines, fmt.Sprintf("%-16s %s", "scanner",
			hang(fmt.Sprintf("%s never expires, on %d nodes: a leak", scanner.KeyText(key), leaks[key]), 17)))
	}
	return lines
}

var errBroken = errors.New("the lock broke its promise: see the table")

// conclude shows the table, and fails if what the lock promises was not kept.
func conclude(out *screen, l *ledger, did []string) error {
	entries := l.close()
	lines := table(entries)
	out.print(bold, "\n%s", lines[0])
	for _, line := range lines[1:] {
		out.print(plain, "%s", line)
	}
	if len(did) > 0 {
		out.print(bold, "\nwhat the faults did")
	}
	for _, line := range did {
		out.print(plain, "%s", line)
	}
	all := sum(entries)
	if all.disordered > 0 || all.overlaps > 0 {
		return errBroken
	}
	fences := "every fencing token higher than the last"
	if all.unfenced {
		fences = "and no fencing token to check"
	}
	out.print(green, "\n%d acquisitions checked as they happened: never two holders, %s", all.acquisitions, fences)
	return nil
}

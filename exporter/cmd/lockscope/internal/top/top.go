// Package top is lockscope top: nodes, contended locks and who blocks whom, again and again in a terminal, or once in a
// file.
//
// A [Source] reads what package screen shows. It has a task for each set of nodes and one for pages; a refresh starts
// them and waits for a moment, so that a system that hangs makes its own part stale and nothing else.
//
// A set of Redis nodes (redis.go) is probed and judged (probe.go), and a scanner.Watch reads who waits and who holds.
// Another system answers two questions (source.go). What pages add comes last (pages.go).
package top

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

const topHelp = `Watch nodes, the locks that somebody waits for, and who blocks whom. Changes nothing.

Keys: up and down select, enter shows waiters, / filters, s sorts, p pauses, ? explains, q quits.`

const topExample = `  lockscope top --redis r1:6379,r2:6379,r3:6379
  lockscope top --config lockscope.yaml --postgres postgres://orders@db/shop --pages '*.orders.svc'
  lockscope top --redis r1:6379 --once | grep DEADLOCK`

const (
	defaultInterval = 2 * time.Second
	shortest        = 200 * time.Millisecond
	defaultTimeout  = time.Second
)

type topFlags struct {
	servers  servers.Flags
	guard    diagnosis.GuardFlags
	config   string
	prefixes []string
	filter   string
	sort     string
	interval time.Duration
	timeout  time.Duration
	pages    string
	page     *ui.List
	once     bool
}

// Command is lockscope top.
func Command(a *ui.App) *cobra.Command {
	f := &topFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"config", "redis", "redis-file", "postgres", "etcd", "zookeeper", "prefix", "filter", "order", "refresh",
			"once", "page", "pages",
		},
		Exit:   "0, or 2 if --once could not read every server",
		Topics: []string{"locks", "connection"},
	}.On(&cobra.Command{
		Use: "top", Short: "Watch nodes, contended locks and who blocks whom in a terminal", Long: topHelp,
		Example: topExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	set.StringVarP(&f.config, "config", "c", "",
		"configuration `file` with groups of servers: see \"lockscope help config\"")
	ui.Group(set, ui.Servers, "config")
	f.servers.Register(set)
	f.guard.Register(set)
	set.StringArrayVar(&f.prefixes, "prefix", nil,
		"locks whose keys begin with this `text` (default "+lock.DefaultPrefix+"). Repeat it for several")
	set.StringVar(&f.filter, "filter", "", "only locks with this `text` in their name, holder or waiters")
	set.StringVar(&f.sort, "order", "waiting",
		"`order`: waiting, longest, callers or name. waiting is the number of callers times the longest wait")
	set.DurationVar(&f.interval, "refresh", defaultInterval, "time between two refreshes")
	set.DurationVar(&f.timeout, "node-timeout", defaultTimeout,
		"time after which a Redis node that does not answer is down")
	set.BoolVar(&f.once, "once", false, "print one frame and exit. This is the default if the output is not a terminal")
	f.page = ui.NewList("URL")
	set.Var(f.page, "page", "live page to read rates from: http://host:port/debug/locks. Repeat it for several")
	set.StringVar(&f.pages, "pages", "off", "`hosts` to read pages of: off, listed or patterns. The pages are those "+
		"that holders and waiters name. Anybody who can write to Redis can plant an address: see \"lockscope help serving\"")
	ui.Group(set, ui.Search, "prefix", "filter")
	ui.Group(set, ui.Result, "order", "refresh", "once", "page", "pages")
	ui.Group(set, ui.Load, "node-timeout")
	return cmd
}

func (f *topFlags) run(ctx context.Context, a *ui.App) error {
	order, err := f.order()
	if err != nil {
		return err
	}
	src, err := f.open(a)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.once || ui.Terminal(a.Out) == 0 || ui.Terminal(a.In) == 0 {
		return printOnce(ctx, a, src, order, f.filter)
	}
	return screen.New(ctx, screen.Config{
		Read: src.Read, Every: f.interval, Color: ui.Colored(a.Out, a.Env), Order: order, Filter: f.filter,
	}).Run(a.In, a.Out, environ(a.Env))
}

func (f *topFlags) order() (screen.Order, error) {
	if f.interval < shortest {
		return 0, fmt.Errorf("--refresh %v: use %v or more", f.interval, shortest)
	}
	if f.timeout <= 0 {
		return 0, fmt.Errorf("--node-timeout %v is not positive", f.timeout)
	}
	for order, name := range map[screen.Order]string{
		screen.ByWaiting: "waiting", screen.ByLongest: "longest", screen.ByCallers: "callers", screen.ByName: "name",
	} {
		if f.sort == name {
			return order, nil
		}
	}
	return 0, fmt.Errorf("--order: unknown order %q: use waiting, longest, callers or name", f.sort)
}

func environ(env ui.Env) (all []string) {
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return all
}

// onceFor is how long --once searches keys for queues. The frame says how far it came.
const onceFor = 5 * time.Second

// printOnce refreshes until all keys were searched or the time is up, and prints a frame.
func printOnce(ctx context.Context, a *ui.App, src *Source, order screen.Order, filter string) error {
	began := time.Now()
	snap := src.Read(ctx)
	for !whole(&snap) && time.Since(began) < onceFor && ctx.Err() == nil {
		snap = src.Read(ctx)
	}
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	frame := screen.Frame(&snap, screen.Options{
		Width: ui.Terminal(a.Out), Color: ui.Colored(a.Out, a.Env), Now: snap.At, Order: order, Filter: filter,
	})
	if _, err := fmt.Fprintln(a.Out, frame); err != nil {
		return err
	}
	return unread(&snap)
}

// whole reports whether each set that answers was searched to its end.
func whole(s *screen.Snapshot) bool {
	for i := range s.Sets {
		set := &s.Sets[i]
		if set.Read.IsZero() || set.Count(state.NodeDown) < len(set.Nodes) && !set.Scan.Whole() {
			return false
		}
	}
	return true
}

// unread says which servers could not be read.
func unread(s *screen.Snapshot) error {
	var errs []error
	for i := range s.Sets {
		set := &s.Sets[i]
		for n := range set.Nodes {
			if node := &set.Nodes[n]; node.State == state.NodeDown {
				errs = append(errs, fmt.Errorf("%s: %s is down: %s", set.Name, node.Name, node.Why))
			}
		}
		switch {
		case set.Err != "" && set.Count(state.NodeDown) == 0:
			errs = append(errs, fmt.Errorf("%s: some waiters are unknown: %s", set.Name, set.Err))
		case len(set.Nodes) > 0 && !set.Scan.Whole() && set.Count(state.NodeDown) < len(set.Nodes):
			errs = append(errs, fmt.Errorf("%s: %.0f%% of the keys were searched within %v, so locks may be missing",
				set.Name, 100*set.Scan.Done, onceFor))
		}
	}
	return errors.Join(errs...)
}

// Package serve is lockscope serve: sweeps again and again, with metrics, a page and health checks.
package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

const serveHelp = `Sweep Redis, PostgreSQL, etcd and ZooKeeper for leaked locks periodically, and serve the results:

  /metrics            the last sweep, for Prometheus
  /debug/locks        who holds what and who waits for whom, as a page and as JSON
  /healthz, /readyz   whether the process lives; whether it serves and at least one server answers`

const serveExample = `  lockscope serve --redis r1:6379,r2:6379,r3:6379
  lockscope serve --config lockscope.yaml --web.listen-address :17379 --web.config.file web.yml
  lockscope serve --redis-file nodes.txt --elect --alertmanager http://am-0:9093`

type serveFlags struct {
	groups      config.GroupFlags
	memory      config.MemoryFlag
	web         server.Web
	interval    time.Duration
	elect       bool
	nodeTimeout time.Duration
	guard       diagnosis.GuardFlags
	leaked      int
	waitsEvery  time.Duration
	pages       string
	drain       time.Duration
}

// Command is lockscope serve.
func Command(a *ui.App) *cobra.Command {
	f := &serveFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"config", "redis", "postgres", "etcd", "zookeeper", "max-hold", "state", "alertmanager", "webhook",
			"web.listen-address", "interval", "elect",
		},
		Exit:   "0 after SIGTERM or SIGINT, 2 error",
		Topics: []string{"serving", "findings", "connection", "json"},
	}.On(&cobra.Command{
		Use: "serve", Short: "Look for leaked locks periodically, and serve metrics and a page", Long: serveHelp,
		Example: serveExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.groups.Register(set, scanner.DefaultMaxValues)
	f.memory.Register(set, ". With --elect the default is redis for groups of Redis")
	own := flag.NewFlagSet("", flag.ContinueOnError)
	f.web.Register(own)
	set.AddGoFlagSet(own)
	set.Lookup("web.listen-address").Usage = "`host:port` to listen on (default " + server.DefaultAddress +
		"). Repeat it for more"
	set.Lookup("web.config.file").Usage = "`file` with TLS and basic authentication. The format is that of " +
		"Prometheus' exporter-toolkit"
	set.DurationVar(&f.interval, "interval", scanner.DefaultInterval, "time between two sweeps")
	set.BoolVar(&f.elect, "elect", false, "sweep only while holding a lock on the same servers")
	f.guard.Register(set)
	set.DurationVar(&f.nodeTimeout, "node-timeout", engine.DefaultNodeTimeout(lock.DefaultTTL),
		"time after which a call to a server has failed, for --elect")
	set.IntVar(&f.leaked, "export-leaked-keys", 0,
		fmt.Sprintf("number of leaked keys to name in a metric, at most %d. Each one is a series of its own",
			exporter.MaxLeakedLockInfo))
	set.DurationVar(&f.waitsEvery, "waits-every", waitsEvery,
		"time between two readings of the waiters. 0 reads them only while somebody looks at the page")
	set.StringVar(&f.pages, "pages", "off", "`hosts` to read pages of: off, listed or patterns. "+
		"listed reads any host except this machine. Anybody who can write to Redis can plant an address: "+
		"see \"lockscope help serving\"")
	set.DurationVar(&f.drain, "web.drain-delay", 0,
		"time to go on serving after SIGTERM while /readyz reports that the process ends")
	ui.Group(set, "Serving", "web.listen-address", "web.config.file", "web.drain-delay", "interval", "elect",
		"node-timeout", "waits-every", "pages", "export-leaked-keys")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, a *ui.App) error {
	if f.leaked < 0 || f.leaked > exporter.MaxLeakedLockInfo {
		return fmt.Errorf("--export-leaked-keys %d: use a number between 0 and %d, as each key is a series of its own",
			f.leaked, exporter.MaxLeakedLockInfo)
	}
	if f.waitsEvery < 0 {
		return fmt.Errorf("--waits-every %v is negative", f.waitsEvery)
	}
	if f.drain < 0 {
		return fmt.Errorf("--web.drain-delay %v is negative", f.drain)
	}
	if f.nodeTimeout <= 0 {
		return fmt.Errorf("--node-timeout %v is not positive", f.nodeTimeout)
	}
	pages, err := fleet.ParsePolicy(f.pages)
	if err != nil {
		return fmt.Errorf("--pages: %w", err)
	}
	s, err := f.open(a)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	return f.serve(ctx, a, s, pages)
}

// open makes what serve sweeps, of the flags and of the configuration file if there is one.
func (f *serveFlags) open(a *ui.App) (*sweeping, error) {
	return newSweeping(func(old config.Groups) (config.Groups, stamps, error) {
		file, err := f.groups.Load()
		if err != nil {
			return nil, nil, err
		}
		interval := f.interval
		if file.Interval != 0 && !f.groups.Set.Changed("interval") {
			interval = time.Duration(file.Interval)
		}
		// An alert must outlive the time from one report to the next, sweeps included.
		resend := interval + f.groups.Sweep.With(file, f.groups.Set).Deadline
		files := stampsOf(f.groups.Files(file))
		all, err := f.groups.Build(a, file, resend, old, func(g *config.Group) ([]scanner.Option, error) {
			return f.finish(a, g, interval)
		})
		return all, files, err
	})
}

// finish has the options of a group that only serve has.
func (f *serveFlags) finish(a *ui.App, g *config.Group, interval time.Duration) ([]scanner.Option, error) {
	logger := inGroup(a.Logger, g.Name)
	opts := []scanner.Option{
		scanner.WithLogger(logger), scanner.WithInterval(interval), scanner.WithProgress(ui.NewProgressLog(logger).Report),
	}
	if g.System != nil {
		g.System.OnSlow(func(took time.Duration) {
			logger.Info("sweep in progress", "backend", g.System.Backend(), "node", g.System.Node(),
				"took", took.Round(time.Second).String(), "left", "unknown")
		})
	}
	kept, err := f.memory.Options(g, f.elect)
	if opts = append(opts, kept...); err != nil || !f.elect {
		return opts, err
	}
	if g.Locker, err = f.locker(g); err != nil {
		return nil, fmt.Errorf("--elect: %w", err)
	}
	return append(opts, scanner.WithLocker(g.Locker, config.ElectResource)), nil
}

// inGroup is for messages about a group. The only one has no name.
func inGroup(logger *slog.Logger, name string) *slog.Logger {
	if name == "" {
		return logger
	}
	return logger.With("group", name)
}

// locker takes the lock of --elect, which is held for as long as a process lives. It is not below lock:, where it would
// be found to be held for too long.
func (f *serveFlags) locker(g *config.Group) (config.Locker, error) {
	timeout := lock.WithNodeTimeout(f.nodeTimeout)
	if g.System != nil {
		return g.System.Elector(timeout), nil
	}
	e, err := redlock.New(servers.Clients(g.Nodes), append(f.guard.Options(), lock.WithPrefix(servers.ElectPrefix),
		timeout)...)
	if err != nil {
		return nil, err // no nil engine becomes a Locker
	}
	return e, nil
}

// serve ends with the server, after ctx has ended or because it cannot listen.
func (f *serveFlags) serve(ctx context.Context, a *ui.App, s *sweeping, pages fleet.Policy) error {
	pings, blocking := newPings(f.guard.Judged(), setsOf(s.groups())...), newBlocking(a.Logger)
	state := newStateView(s, pings, blocking)
	view := newFleetView(state, pages)
	srv, err := f.server(a, s, state, view)
	if err != nil {
		return err
	}
	if err := s.groups().Start(); err != nil {
		return err
	}
	var loops sync.WaitGroup
	defer loops.Wait()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	loops.Go(func() { pings.loop(background) })
	loops.Go(func() { state.loop(background) })
	loops.Go(func() {
		s.loop(background, a, min(f.interval, lookEvery), func(all config.Groups) {
			pings.follow(setsOf(all)...)
		})
	})
	if f.waitsEvery > 0 {
		loops.Go(func() { blocking.loop(background, s, f.waitsEvery) })
	}
	if view != nil {
		loops.Go(func() { view.loop(background) })
	}
	f.web.Ready = func(urls []string) { a.Logger.Info("serving", "urls", urls) }
	// The listeners end first: no scrape meets a scanner that is half closed.
	return errors.Join(srv.Serve(ctx, f.web), s.close())
}

func (f *serveFlags) server(a *ui.App, s *sweeping, state *stateView, view *fleetView) (*server.Server, error) {
	opts := []exporter.Option{
		exporter.WithLogger(a.Logger), exporter.WithState(state), exporter.WithReadyCheck("servers", state.pings.ready),
		exporter.WithWaits(state.blocking), exporter.WithReload(s),
		exporter.WithReadyCheck("election", func(context.Context) error { return undecidedOf(s.groups()) }),
	}
	if view != nil {
		opts = append(opts, exporter.WithFleet(fleet.Handler(view.document)))
	}
	if f.leaked > 0 {
		opts = append(opts, exporter.WithScanner(s, exporter.WithLeakedLockInfo(f.leaked)))
	} else {
		opts = append(opts, exporter.WithScanner(s))
	}
	e, err := exporter.New(opts...)
	if err != nil {
		return nil, err
	}
	return server.New(e, server.WithLogger(a.Logger), server.WithDrainDelay(f.drain))
}

// undecided returns the error that keeps this process from telling who sweeps, or nil.
func undecided(s scanner.Snapshot) error {
	if !s.Standby || s.Undecided == nil {
		return nil
	}
	return fmt.Errorf("no sweep: cannot tell which process holds the scanner's lock: %w", s.Undecided)
}

// undecidedOf joins the errors of all groups.
func undecidedOf(all config.Groups) error {
	var errs []error
	for _, g := range all {
		err := undecided(g.Scanner.Snapshot())
		if err != nil && g.Name != "" {
			err = fmt.Errorf("group %s: %w", g.Name, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

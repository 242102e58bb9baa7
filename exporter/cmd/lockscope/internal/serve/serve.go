package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/sweep"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/exporter/internal/fleet"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

const serveHelp = `Serve sweeps again and again, like scan, and serves

  /metrics       what the sweeps found, in the Prometheus and OpenMetrics formats
  /debug/locks   who holds what now, who waits for whom, how the servers answer; the same as JSON
  /debug/locks/fleet   with --pages: who waits where in the code of all processes, as JSON
  /healthz       the process lives
  /readyz        it serves, and one Redis server at least answers

It is for fleets whose services cannot tell these themselves. A scrape never waits for
Redis: metrics are of the last sweep, see distributed_lock_scanner_last_success_timestamp_seconds.

Every --waits-every it reads who waits off the nodes, as list does. Deadlocks, also across
processes, are logged when they appear and when they are gone, and counted in metrics.

Processes can say on the nodes where their page is (lock.WithPage). --pages lets serve read
these pages while somebody looks at /debug/locks/fleet. It is off unless asked for: anybody
with write access to Redis can plant an address there, to which serve then sends a GET.
--pages listed reads every page but those of this machine; patterns of hosts, as
--pages '*.orders.svc,10.0.7.*', only these. Either way an address must end in /debug/locks,
credentials, redirects and link-local addresses are refused, at most 200 pages are read,
each every 10 s for at most 2 s and 4 MiB, and what was not read is shown with the reason.

--config names a file with groups of servers, patterns with limits of their own, exclusions
and who is told. On SIGHUP it is read again, and so is a file of a secret when it changes,
with or without --config; groups that stay the same go on undisturbed. If the new one is bad
the one before is kept, which distributed_lock_scanner_config_last_reload_successful tells.

With --elect several of these processes may run: the one that holds a lock on the same
servers sweeps, and another one takes over when it dies. If nobody can have the lock, for
too few servers answer, /readyz says so; after three intervals each process sweeps what is
left, and distributed_lock_scanner_unelected is 1.

--state keeps what is known of holders and findings, so that a restart does not begin anew:
since when a holder has its lock, which findings have been reported. With --elect it is in
Redis unless given, for the next one to sweep is another process.

It listens on the loopback interface unless --web.listen-address says otherwise: who
holds which lock is nobody's business outside. --web.config.file adds TLS and passwords.

Exit status: 0 after SIGTERM or SIGINT, once requests under way are answered; 2 an error.`

const serveExample = `  lockscope serve --redis r1:6379,r2:6379,r3:6379
  lockscope serve --redis r1:6379 --web.listen-address :17379 --web.config.file web.yml --log.format json
  lockscope serve --config lockscope.yaml
  lockscope serve --redis-file nodes.txt --elect --alertmanager http://am-0:9093 --alertmanager http://am-1:9093`

// electPrefix is of the lock of --elect, which is held for as long as a process lives. It is not below lock:, where it
// would be found to be held for too long.
const electPrefix = "lockscope:elect:"

type serveFlags struct {
	groups      sweep.GroupFlags
	memory      sweep.MemoryFlag
	web         server.Web
	interval    time.Duration
	elect       bool
	nodeTimeout time.Duration
	leaked      int
	waitsEvery  time.Duration
	pages       string
	drain       time.Duration
}

// Command is lockscope serve.
func Command(a *app.App) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Sweep again and again, and serve metrics and a page", Long: serveHelp,
		Example: serveExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.groups.Register(set, scanner.DefaultMaxValues)
	f.memory.Register(set, "; with --elect redis unless given")
	own := flag.NewFlagSet("", flag.ContinueOnError)
	f.web.Register(own)
	set.AddGoFlagSet(own)
	set.DurationVar(&f.interval, "interval", scanner.DefaultInterval, "time between two sweeps")
	set.BoolVar(&f.elect, "elect", false, "sweep only while holding a lock on the same servers")
	set.DurationVar(&f.nodeTimeout, "node-timeout", engine.DefaultNodeTimeout(lock.DefaultTTL),
		"for --elect: time after which a call to a server counts as failed")
	set.IntVar(&f.leaked, "export-leaked-keys", 0,
		fmt.Sprintf("name so many leaked keys in a metric, at most %d: each is a series of its own",
			exporter.MaxLeakedLockInfo))
	set.DurationVar(&f.waitsEvery, "waits-every", waitsEvery,
		"time between two looks at who waits; 0 looks only while somebody looks at the page")
	set.StringVar(&f.pages, "pages", "off", "read the pages that processes publish in Redis: off, listed (any host), "+
		"or patterns of hosts; anybody who can write to Redis can plant an address")
	set.DurationVar(&f.drain, "web.drain-delay", 0, "go on serving for this long after SIGTERM while /readyz says no")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, a *app.App) error {
	if f.leaked < 0 || f.leaked > exporter.MaxLeakedLockInfo {
		return fmt.Errorf("--export-leaked-keys %d: between 0 and %d, for each key is a series of its own", f.leaked,
			exporter.MaxLeakedLockInfo)
	}
	if f.waitsEvery < 0 {
		return fmt.Errorf("--waits-every %v: it is negative", f.waitsEvery)
	}
	if f.drain < 0 {
		return fmt.Errorf("--web.drain-delay %v: it is negative", f.drain)
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
func (f *serveFlags) open(a *app.App) (*sweeping, error) {
	return newSweeping(func(old sweep.Groups) (sweep.Groups, stamps, error) {
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
		all, err := f.groups.Build(a, file, resend, old, func(g *sweep.Group) ([]scanner.Option, error) {
			return f.finish(a, g, interval)
		})
		return all, files, err
	})
}

// finish has the options of a group that only serve has.
func (f *serveFlags) finish(a *app.App, g *sweep.Group, interval time.Duration) ([]scanner.Option, error) {
	opts := []scanner.Option{scanner.WithLogger(a.Logger), scanner.WithInterval(interval)}
	if g.Name != "" {
		opts[0] = scanner.WithLogger(a.Logger.With("group", g.Name))
	}
	kept, err := f.memory.Options(g, f.elect)
	if opts = append(opts, kept...); err != nil || !f.elect {
		return opts, err
	}
	if g.Locker, err = f.locker(g.Nodes); err != nil {
		return nil, fmt.Errorf("--elect: %w", err)
	}
	return append(opts, scanner.WithLocker(g.Locker, sweep.ElectResource)), nil
}

func (f *serveFlags) locker(nodes []target.Node) (*engine.Engine, error) {
	return redlock.New(target.Clients(nodes), lock.WithPrefix(electPrefix), lock.WithNodeTimeout(f.nodeTimeout))
}

// serve ends with the server, after ctx has ended or because it cannot listen.
func (f *serveFlags) serve(ctx context.Context, a *app.App, s *sweeping, pages fleet.Policy) error {
	pings, blocking := newPings(s.groups().Nodes()), newBlocking(a.Logger)
	state := newState(s, pings, blocking)
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
		s.loop(background, a, min(f.interval, lookEvery), func(all sweep.Groups) { pings.follow(all.Nodes()) })
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

func (f *serveFlags) server(a *app.App, s *sweeping, state *state, view *fleetView) (*server.Server, error) {
	opts := []exporter.Option{
		exporter.WithLogger(a.Logger), exporter.WithState(state), exporter.WithReadyCheck("redis", state.pings.ready),
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

// undecided is why nobody sweeps, if it cannot be told who is to.
func undecided(s scanner.Snapshot) error {
	if !s.Standby || s.Undecided == nil {
		return nil
	}
	return fmt.Errorf("nobody sweeps, for who is to cannot be decided: %w", s.Undecided)
}

// undecidedOf is that of each group.
func undecidedOf(all sweep.Groups) error {
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

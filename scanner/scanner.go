package scanner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
	"github.com/lockscope/lockscope/scanner/report"
)

// Scanner looks for leaked locks. It is safe for concurrent use.
type Scanner struct {
	cfg     config
	sources []*node.Source
	system  *system // instead of sources; nil for Redis
	// closeClients closes the clients that Open made; nil if they are the caller's.
	closeClients func() error

	turn     chan struct{}   // has one element while no sweep runs
	life     context.Context // ends with Close
	end      context.CancelCauseFunc
	loop     loop
	settings sweep.Settings
	memory   memory
	totals   totals
	proof    atomic.Pointer[coverage.Proof] // of the last sweep
	repairer apply.Repairer

	closeOnce sync.Once
	closeErr  error
}

// New makes a Scanner on the given clients. Each client is one independent server, as in a Redlock. A Sentinel
// failover client counts as one server, and so does a cluster client, whose masters are reported as nodes of their
// own. Unrelated servers may share a Scanner: [inspect.Orphan] is looked for only where they form one Redlock. New does
// not connect.
//
// The Scanner opens its own connections, at most two per server, with the clients' addresses, credentials, TLS and
// dialers, but without their hooks, and with the name lockscope-scanner. It does not change or close the clients.
func New(clients []redis.UniversalClient, opts ...Option) (*Scanner, error) {
	cfg, err := newConfig(len(clients), opts)
	if err != nil {
		return nil, err
	}
	sources, err := node.NewSources(clients, cfg.names, cfg.replicas)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidNode, err)
	}
	s := newScanner(cfg, sources)
	s.goOn()
	return s, nil
}

func newScanner(cfg config, sources []*node.Source) *Scanner {
	s := &Scanner{
		cfg: cfg, sources: sources, settings: cfg.settings(),
		turn:     make(chan struct{}, 1),
		loop:     loop{done: make(chan struct{})},
		repairer: apply.Repairer{Sources: sources, OneRedlock: cfg.oneRedlock, MinAge: cfg.repairMinAge, Now: cfg.now},
	}
	s.memory = memory{
		store: cfg.store, settings: &s.settings, sources: sources,
		findings: registry.New(cfg.maxFindings), sweeps: sweep.NewMemory(), writer: rand.Text(),
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.turn <- struct{}{}
	return s
}

// Sweep looks at every lock of every node once, and after the time of [WithConfirmAfter] again at those with
// something wrong. Start calls it in a loop.
//
// Sweep always returns a report. The error joins one [*report.NodeError] for each failed node and the errors of
// notifiers; the other nodes are reported all the same. Once ctx or the deadline ends, the report has what is known by
// then, with Truncated nodes. If ctx ended, its error is joined.
//
// Callbacks and notifiers run before Sweep returns. One sweep runs at a time: a further call waits for its turn until
// its ctx ends. After Close the error is [ErrClosed].
func (s *Scanner) Sweep(ctx context.Context) (report.Report, error) {
	return s.waitAndSweep(ctx, false)
}

// waitAndSweep is [Scanner.Sweep]. unelected marks a sweep without the scanner's lock because nobody can acquire it.
func (s *Scanner) waitAndSweep(ctx context.Context, unelected bool) (report.Report, error) {
	report := report.Report{Started: s.cfg.now()}
	select {
	case <-s.turn:
	case <-s.life.Done():
		return report, ErrClosed
	case <-ctx.Done():
		return report, fmt.Errorf("scanner: another sweep is running: %w", ctx.Err())
	}
	defer func() { s.turn <- struct{}{} }()
	if s.life.Err() != nil {
		return report, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
	defer context.AfterFunc(ctx, s.interrupt)()
	return s.sweep(ctx, unelected)
}

// interrupt ends waits for servers that hang. A running listing tries again.
func (s *Scanner) interrupt() {
	for _, src := range s.sources {
		src.Interrupt()
	}
}

// sweep expects that it is this caller's turn.
func (s *Scanner) sweep(ctx context.Context, unelected bool) (report.Report, error) {
	unknown := s.memory.recall(ctx)
	w := s.sweeper()
	w.Run(ctx, s.totals.drop)
	report := w.Report()
	report.Servers = s.servers()
	if redis, ok := w.(*sweep.Sweep); ok {
		s.proof.Store(redis.Proof(&report))
	}
	report.Unelected = unelected
	became, ended, silent := s.settings.Silence.End(s.cfg.now(), readWhole(&report))
	report.Silent, report.Silents = silentLocks(silent, s.settings.Group), len(silent)
	s.totals.add(&report)
	s.cfg.announceSilence(ctx, became, ended)
	s.cfg.announce(ctx, report, w.Appeared())
	errs := w.Errs()
	for _, err := range []error{unknown, s.memory.remember(ctx, len(w.Appeared())+len(report.Resolved) > 0)} {
		if err != nil {
			s.cfg.logger.WarnContext(ctx, "memory of earlier sweeps not loaded or saved", slog.Any("error", err))
			s.totals.forget()
			errs = append(errs, err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		errs = append(errs, fmt.Errorf("scanner: the sweep was interrupted: %w", err))
	}
	if ctx.Err() == nil {
		errs = append(errs, s.cfg.notify(ctx, report)...)
	}
	return report, errors.Join(errs...)
}

func (s *Scanner) sweeper() sweeper {
	if s.system != nil {
		return sweep.NewWhole(&s.settings, s.system.name, s.system.address, s.system.look, s.system.held,
			s.memory.findings)
	}
	return sweep.New(&s.settings, s.sources, s.memory.sweeps, s.memory.findings, s.proof.Load())
}

// Start sweeps in the background until Stop or Close. The first sweep begins within a tenth of the interval, and each
// further one an interval after the last, give or take 10 %. So many processes started together do not sweep
// together. A further call, also after Stop, returns [ErrStarted], or [ErrClosed] after Close.
//
// With [WithLocker], each interval begins with one attempt to acquire the lock, unless the process holds it already.
// A process that does not get it waits for the next interval and reports Standby in its Snapshot. The holder keeps
// the lock until Stop. When it dies, another process takes over once the lock has expired and its own next interval
// begins. A sweep whose lock is lost is interrupted.
//
// If the holder of the lock stays unknown for more than three intervals, for example because the lock's servers do
// not answer, each process sweeps what it can reach. It tries to acquire the lock before each sweep. Two sweeps at a
// time are better than none. Reports of such sweeps are Unelected.
//
// Errors of sweeps go to the logger and the Snapshot.
func (s *Scanner) Start() error {
	l := s.cfg.leader()
	return s.loop.start(s.life, s.cfg.interval, func(ctx context.Context) { s.sweepIfLeader(ctx, l) }, l.release)
}

// sweepIfLeader is one turn of the loop.
func (s *Scanner) sweepIfLeader(ctx context.Context, l *leader) {
	led, err := l.lead(ctx)
	switch {
	case err == nil:
		s.totals.elect(nil)
		_, _ = s.Sweep(led) // logged, and in the snapshot
	case ctx.Err() != nil:
	case errors.Is(err, lock.ErrHeld):
		s.cfg.logger.DebugContext(ctx, "standby: another process sweeps", slog.String("resource", l.resource))
		s.standBy(nil)
	case l.undecided() > undecidedIntervals*s.cfg.interval:
		s.cfg.logger.WarnContext(ctx, "sweeping unelected: the scanner's lock cannot be acquired",
			slog.Any("error", err))
		s.totals.elect(err)
		_, _ = s.waitAndSweep(ctx, true)
	default:
		s.cfg.logger.WarnContext(ctx, "standby: the scanner's lock cannot be acquired", slog.Any("error", err))
		s.standBy(err)
	}
}

// standBy leaves the sweep to another process, which may know more from now on. undecided is why there may be none.
func (s *Scanner) standBy(undecided error) {
	s.totals.elect(undecided)
	report := report.Report{Started: s.cfg.now(), Standby: true}
	s.totals.add(&report)
	if undecided == nil {
		s.memory.stale.Store(true)
	}
}

// Stop ends the loop and its running sweep, releases the lock of [WithLocker] and returns when all that is done.
// Sweep can be called afterwards. Without a Start, and on a second call, Stop does nothing. Do not call it from a
// callback: it would wait for that callback.
func (s *Scanner) Stop() { s.loop.stop() }

// Snapshot returns what a collector of metrics needs. The caller may keep it, and must not change what it shares with
// other snapshots.
func (s *Scanner) Snapshot() Snapshot { return s.totals.snapshot() }

// Close stops the loop, ends a running sweep, waits for both and closes the Scanner's own connections. Further calls
// return the first result. Do not call it from a callback: it would wait for that callback.
func (s *Scanner) Close() error {
	s.closeOnce.Do(func() {
		s.end(ErrClosed)
		s.Stop()
		<-s.turn
		defer func() { s.turn <- struct{}{} }()
		var errs []error
		for _, src := range s.sources {
			errs = append(errs, src.Close())
		}
		if s.closeClients != nil {
			errs = append(errs, s.closeClients())
		}
		if s.system != nil {
			s.system.close()
		}
		s.closeErr = errors.Join(errs...)
	})
	return s.closeErr
}

// Open is New on clients that it makes from URLs, as [redlock.NewClients] does. Close closes these clients too.
// Errors name a URL by its position only, because a URL may contain a password.
func Open(urls []string, opts ...Option) (*Scanner, error) {
	clients, closeClients, err := redlock.NewClients(urls)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidNode, err)
	}
	s, err := New(clients, opts...)
	if err != nil {
		return nil, errors.Join(err, closeClients())
	}
	s.closeClients = closeClients
	return s, nil
}

// goOn continues the silence watch of the replaced Scanner if both see the same locks. Only the watch is kept of that
// Scanner, or each would keep all those before it.
func (s *Scanner) goOn() {
	old := s.cfg.replaced
	if s.cfg.replaced = nil; old != nil && reflect.DeepEqual(old.sees(), s.sees()) {
		s.settings.Silence = old.settings.Silence
	}
}

// sees returns what decides which locks the silence watch sees.
func (s *Scanner) sees() []any {
	all := []any{s.cfg.scope.Patterns, s.cfg.rules.Exclusions}
	for _, src := range s.sources {
		all = append(all, src.Name, src.DB)
	}
	if s.system != nil {
		all = append(all, s.system.name, s.system.address, s.system.rules)
	}
	return all
}

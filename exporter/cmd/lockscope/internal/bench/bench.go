package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/help"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/locker"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const benchHelp = `Measure what these Redis servers give: locks and hand-offs a second, and how long they take.

bench also measures the cost of one node that hangs: it stops its own connections to that node, and
leaves the server alone. It loads the servers as much as they take, so run it in a quiet hour. It
uses locks of its own prefix, and refuses to run while callers wait for other locks.`

const benchExample = `  lockscope bench --redis r1:6379,r2:6379,r3:6379
  lockscope bench --redis r1:6379 --callers 1,16 --for 5s -o json
  lockscope bench --redis r1:6379,r2:6379,r3:6379 --ttl 5s --node-timeout 100ms`

// The limits of the flags bound the time, the keys and the connections of a run.
const (
	defaultPrefix       = "lockscope:bench:"
	defaultFor          = 2 * time.Second
	shortestFor         = 100 * time.Millisecond
	longestFor          = time.Minute
	maxCallers, maxRuns = 256, 5
)

type benchFlags struct {
	redis          target.Flags
	names          target.NamesFlag
	guard          target.GuardFlags
	output         output.Format
	callers        []int
	each           time.Duration
	ttl            time.Duration
	maxTTL         time.Duration
	nodeTimeout    time.Duration
	prefix         string
	despiteWaiters bool
}

// Command is lockscope bench.
func Command(a *app.App) *cobra.Command {
	f := &benchFlags{}
	cmd := help.Page{
		Everyday: []string{
			"redis", "redis-file", "redis-username", "node-names", "callers", "for", "ttl", "max-ttl", "node-timeout",
			"despite-waiters", "output",
		},
		Exit:   "0 measured, 1 measured but some calls failed, 2 refused, or an error",
		Topics: []string{"connection", "json", "exit-codes"},
	}.On(&cobra.Command{
		Use: "bench", Short: "Measure how fast these servers grant locks, and propose a TTL",
		Long: benchHelp, Example: benchExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.redis.Register(set)
	f.names.Register(set)
	f.guard.Register(set)
	set.IntSliceVar(&f.callers, "callers", []int{1, 8, 64},
		fmt.Sprintf("numbers of callers to measure with. At most %d, each up to %d", maxRuns, maxCallers))
	set.DurationVar(&f.each, "for", defaultFor, fmt.Sprintf("time of each measurement, %v to %v", shortestFor,
		longestFor))
	set.DurationVar(&f.ttl, "ttl", lock.DefaultTTL, "TTL of the locks: that of your services")
	set.DurationVar(&f.maxTTL, "max-ttl", lock.DefaultMaxTTL, "longest TTL of a lock: WithMaxTTL of the services")
	set.DurationVar(&f.nodeTimeout, "node-timeout", 0,
		"longest time to wait for an answer of a server. The default is a twentieth of --ttl, but 50ms to 500ms")
	set.StringVar(&f.prefix, "prefix", defaultPrefix, "`text` that the keys of the bench begin with")
	set.BoolVar(&f.despiteWaiters, "despite-waiters", false,
		"measure although callers wait for other locks. The bench slows them down")
	f.output.Register(set)
	flags.Group(set, "Measurement", "callers", "for", "despite-waiters")
	flags.Group(set, "Lock", "ttl", "max-ttl", "node-timeout", "prefix")
	return cmd
}

func (f *benchFlags) validate() error {
	switch {
	case len(f.callers) == 0 || len(f.callers) > maxRuns:
		return fmt.Errorf("--callers has %d numbers: give 1 to %d", len(f.callers), maxRuns)
	case slices.Min(f.callers) < 1 || slices.Max(f.callers) > maxCallers:
		return fmt.Errorf("--callers %v: use 1 to %d", f.callers, maxCallers)
	case f.each < shortestFor || f.each > longestFor:
		return fmt.Errorf("--for %v: use %v to %v", f.each, shortestFor, longestFor)
	case f.ttl < locker.MinTTL:
		return fmt.Errorf("--ttl %v is too short: use %v or more", f.ttl, locker.MinTTL)
	case f.maxTTL < f.ttl:
		return fmt.Errorf("--max-ttl %v is shorter than --ttl %v", f.maxTTL, f.ttl)
	case f.nodeTimeout < 0:
		return fmt.Errorf("--node-timeout %v is negative", f.nodeTimeout)
	case f.prefix == "" || f.prefix == lock.DefaultPrefix:
		return errors.New("--prefix is empty, or that of real locks: use another one")
	}
	slices.Sort(f.callers)
	f.callers = slices.Compact(f.callers)
	return nil
}

func (f *benchFlags) run(ctx context.Context, a *app.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	nodes, err := f.redis.Open(a)
	if err != nil {
		return err
	}
	defer target.Release(nodes)
	names, err := f.names.Of(nodes)
	if err != nil {
		return err
	}
	b := &bench{benchFlags: f, nodes: nodes, names: names}
	r, err := b.measure(ctx)
	switch {
	case ctx.Err() != nil:
		return errors.Join(app.ErrInterrupted, r.leftError())
	case r == nil:
		return err
	}
	if written := writeReport(a, f.output, r); written != nil {
		return written
	}
	if err = errors.Join(err, r.leftError()); err == nil && r.failed() > 0 {
		return &app.StatusError{Status: app.ExitFindings}
	}
	return err
}

// options are those of all engines of the bench.
func (b *bench) options() []lock.Option {
	opts := []lock.Option{lock.WithPrefix(b.prefix), lock.WithNodeNames(b.names...), lock.WithMaxTTL(b.maxTTL)}
	if b.nodeTimeout > 0 {
		opts = append(opts, lock.WithNodeTimeout(b.nodeTimeout))
	}
	return append(opts, b.guard.Options()...)
}

// timeout is how long the engines wait for a node.
func (b *bench) timeout() time.Duration {
	if b.nodeTimeout > 0 {
		return b.nodeTimeout
	}
	return engine.DefaultNodeTimeout(b.ttl)
}

package list

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/sweep"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/systems"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

const listHelp = `List shows who holds what at this moment, as far as the values of the locks tell: which
resource, how many of the nodes agree, the holder, since when, and how much longer the
lock lives unless it is renewed. It reads locks of any library and changes nothing.

Beside each lock it says how many calls wait for it and for how long the first has: the
processes that queue for one of lockscope's locks say so on the nodes, with what they
hold meanwhile. So chains (the holder of this waits for that) and deadlocks, also across
processes, are found and said. --waiters lists the processes. Other libraries have no queue.

Several --redis are the nodes of one Redlock. A lock is held while a majority of the
nodes agrees; one that fewer have is a left-over or an attempt under way. If nodes do not
answer, or have lost their data and do not vote yet, such a lock may or may not be held: its
state is undecided. A held lock can be missing only if a majority of the nodes is like that.
The last line says which nodes were read.

With --postgres, --etcd and --zookeeper it reads the locks of lockscope's drivers there, and
what a plain concurrency.Mutex, zk.Lock or Curator holds, of whom nothing is known. Several
systems are listed side by side, and --filter, --sort and --limit hold over all of them;
REDIS_URL counts only where no system is named. Each system has chains and deadlocks of its
own. What waiters hold meanwhile PostgreSQL tells as Redis does; etcd and ZooKeeper do not,
and so have no chains. ZooKeeper does not tell how long a lock lives either.

Exit status: 0, or 2 if a server could not be read to its end (what is known is shown).

JSON output (schema 1), in seconds:
  {schema, started, took_seconds, truncated, omitted,
   locks[]: {backend (redis, postgresql, etcd or zookeeper), resource, key, key_base64, type, nodes, of,
             held (a quorum has it, or may), state (held, undecided or not_held), split, holder{format, name, since, traceparent, count, fence}, held_seconds,
             ttl_seconds (null: never expires), ttl_unknown (true: nor is it known when it does),
             waiting{processes, callers, longest_seconds, chain[], queue[]: {id, name, waited_seconds,
             callers, call_site, traceparent, page, holds[]: {resource, fence}}}},
   waits_unknown (why, if who waits was not read), deadlocks[]: text,
   nodes[]: {backend, node, locks, truncated, error},
   coverage: {read, of, unread[], may_have_forgotten[], all_held_listed} (of Redis nodes)}`

const listExample = `  lockscope list --redis r1:6379,r2:6379,r3:6379
  lockscope list --redis r1:6379 --sort age --limit 20        # held for longest
  lockscope list --redis r1:6379 --filter 'order:*' -o json | jq -r '.locks[].holder.name'
  lockscope list --postgres postgres://orders@db/shop --etcd e1:2379,e2:2379,e3:2379 --zookeeper z1:2181,z2:2181`

type listFlags struct {
	redis    target.Flags
	backends systems.Flags
	output   output.Format
	prefixes []string
	patterns []string
	waiters  bool
	pageSize int
	pause    time.Duration
	selection
}

// Command is lockscope list.
func Command(a *app.App) *cobra.Command {
	f := &listFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "Show who holds what now", Long: listHelp, Example: listExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.redis.Register(set)
	f.backends.Register(set)
	f.output.Register(set)
	set.StringArrayVar(&f.prefixes, "prefix", nil,
		"look at keys that begin like this; repeat it for several. Without it and --pattern: "+scanner.DefaultPrefix+
			". In PostgreSQL all locks are looked at, and this is left out of their names")
	set.StringArrayVar(&f.patterns, "pattern", nil,
		"look at keys of Redis that match this glob pattern, too; repeat it for several. Each costs a pass through all keys")
	set.StringVar(&f.sort, "sort", string(scanner.ByTTL),
		"what comes first: ttl (longest left), age (held for longest) or resource (by name)")
	set.BoolVar(&f.reverse, "reverse", false, "the other way round")
	set.BoolVar(&f.waiters, "waiters", false, "list the processes that wait, too")
	set.StringVar(&f.filter, "filter", "",
		"only resources with this text in their name, or matching it if it has a *, ? or [")
	set.IntVar(&f.limit, "limit", scanner.DefaultListLimit, "show so many locks and only count the others")
	set.IntVar(&f.pageSize, "page-size", scanner.DefaultPageSize,
		"keys a server looks at without serving others meanwhile (COUNT of SCAN)")
	set.DurationVar(&f.pause, "pause", scanner.DefaultPause, "leave a server alone for this long after each page")
	set.DurationVar(&f.deadline, "deadline", scanner.DefaultDeadline, "take no longer, and show what is known by then")
	return cmd
}

func (f *listFlags) run(ctx context.Context, a *app.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	others, err := f.backends.Open(a, &f.redis, f.prefixes)
	if err != nil {
		return err
	}
	defer systems.CloseAll(others)
	var reads []reading
	if f.redis.Named() || len(others) == 0 {
		nodes, err := f.redis.Open(a)
		if err != nil {
			return err
		}
		defer target.Release(nodes)
		s, err := f.scanner(nodes)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		reads = append(reads, f.readRedis(s, nodes))
	}
	for _, b := range others {
		reads = append(reads, f.readBackend(b))
	}
	l, err := f.read(ctx, reads)
	return errors.Join(err, writeList(a, f.output, f.waiters, l))
}

func (f *listFlags) validate() error {
	switch scanner.Order(f.sort) {
	case scanner.ByTTL, scanner.ByAge, scanner.ByResource:
	default:
		return fmt.Errorf("--sort: there is no order %q: ttl, age or resource", f.sort)
	}
	if f.limit < 0 {
		return fmt.Errorf("--limit: %d locks are negative", f.limit)
	}
	return nil
}

func (f *listFlags) scanner(nodes []target.Node) (*scanner.Scanner, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	return scanner.New(target.Clients(nodes), append(opts, scanner.WithNodeNames(target.Names(nodes)...))...)
}

// readRedis is the reading of all nodes of one Redlock.
func (f *listFlags) readRedis(s *scanner.Scanner, nodes []target.Node) reading {
	return func(ctx context.Context) (part, error) {
		listing, err := s.List(ctx, f.listOptions())
		if err == nil && listing.Truncated {
			err = errListTruncated
		}
		w := listing.Waits
		if w == nil {
			w = backend.NoWaits()
		}
		return part{system: target.System, tellsTTL: true, listing: listing, waits: waits{w},
			coverage: coverageOf(ctx, nodes, listing)}, err
	}
}

func (f *listFlags) options() ([]scanner.Option, error) {
	opts := []scanner.Option{
		scanner.WithPageSize(f.pageSize), scanner.WithPause(f.pause), scanner.WithDeadline(f.deadline),
		scanner.WithConfirmAfter(0),
	}
	globs, err := sweep.KeyGlobs(f.prefixes, f.patterns)
	if err != nil {
		return nil, err
	}
	return append(opts, scanner.WithPatterns(globs...)), nil
}

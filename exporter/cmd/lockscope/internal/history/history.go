package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/help"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/systems"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/exporter/internal/timespan"
	"github.com/lockscope/lockscope/scanner"
)

const historyHelp = `Show who blocked whom in a span of the last hour: top blockers, top resources, and when.

It reads the history of each process at /debug/locks/history. Name the pages with --page, or name
the lock servers: their locks and waiters say where their pages are (lock.WithPage).`

const historyExample = `  lockscope history --from 02:10 --to 02:20 --page orders-1:9090,orders-2:9090
  lockscope history --from -30m --redis r1:6379,r2:6379,r3:6379 --pages '*.orders.svc'
  lockscope history --from 02:10 --to 02:20 --page orders-1:9090 -o json > ticket.json`

const timeHelp = ". Use a time of day here such as 02:10 or 02:10:30, a duration before now such as -10m, or an " +
	"RFC 3339 time such as 2026-11-24T02:10:00Z"

// Errors of what to read.
var (
	errNoPages    = errors.New("no lock or waiter on these servers names a page (lock.WithPage): name pages with --page")
	errNothing    = errors.New("no page was read")
	errWhichPages = errors.New("name the pages of processes with --page, or lock servers that know them with --redis")
)

type historyFlags struct {
	from, to string
	named    *flags.List
	pages    string
	redis    target.Flags
	backends systems.Flags
	prefixes []string
	rows     int
	deadline time.Duration
	output   output.Format
}

// Command is lockscope history.
func Command(a *app.App) *cobra.Command {
	f := &historyFlags{named: flags.NewList("address")}
	cmd := help.Page{
		Everyday: []string{"from", "to", "page", "pages", "redis", "redis-file", "postgres", "etcd", "zookeeper", "rows",
			"output"},
		Exit:   "0, 2 error or no page was read, 3 a page was not read or lacks part of the span",
		Topics: []string{"json", "serving", "connection"},
	}.On(&cobra.Command{
		Use: "history", Short: "Show who blocked whom in a span of the last hour", Long: historyHelp,
		Example: historyExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	set.StringVar(&f.from, "from", "", "`time` when the span begins (default 10 minutes before --to)"+
		timeHelp)
	set.StringVar(&f.to, "to", "", "`time` when the span ends (default now)"+timeHelp)
	set.Var(f.named, "page", "page of a process: host:port, or the URL of its /debug/locks. Repeat it, or "+
		"separate several by commas")
	set.StringVar(&f.pages, "pages", "listed", "`hosts` to read pages of: off, listed or patterns. It is about pages "+
		"that servers name. listed reads any host except this machine. Anybody who can write to the servers can "+
		"plant an address: see \"lockscope help serving\"")
	f.redis.Register(set)
	f.backends.Register(set)
	set.StringArrayVar(&f.prefixes, "prefix", nil, "find pages in keys that begin with this `text` (default "+
		scanner.DefaultPrefix+"). Repeat it for several")
	set.IntVar(&f.rows, "rows", 10, "blockers and resources to show; JSON has all")
	set.DurationVar(&f.deadline, "deadline", 30*time.Second, "longest time to find the pages")
	f.output.Register(set)
	flags.Group(set, "Span", "from", "to")
	flags.Group(set, "Pages", "page", "pages")
	flags.Group(set, flags.Search, "prefix", "deadline")
	flags.Group(set, flags.Result, "rows")
	return cmd
}

func (f *historyFlags) run(ctx context.Context, a *app.App) error {
	span, err := timespan.Parse(f.from, f.to, time.Now())
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if f.rows < 1 {
		return fmt.Errorf("--rows %d: must be positive", f.rows)
	}
	if f.deadline <= 0 {
		return fmt.Errorf("--deadline %v: must be positive", f.deadline)
	}
	policy, err := fleet.ParsePolicy(f.pages)
	if err != nil {
		return fmt.Errorf("--pages: %w", err)
	}
	r := newReport(span)
	if err := f.read(ctx, a, policy, r); err != nil {
		return err
	}
	if f.output == output.JSON {
		err = output.WriteJSON(a.Out, r)
	} else {
		err = writeText(a, r, f.rows)
	}
	switch {
	case err != nil:
		return err
	case r.read() == 0:
		return errNothing
	case !r.complete():
		return &app.StatusError{Status: app.ExitIncomplete}
	}
	return nil
}

// read reads the pages that are named, and those that the servers name.
func (f *historyFlags) read(ctx context.Context, a *app.App, policy fleet.Policy, r *report) error {
	named, err := pageAddresses(f.named.Values())
	if err != nil {
		return err
	}
	r.add(ctx, fleet.AnyHost(), named)
	found, asked, err := f.find(ctx, a, len(named) == 0)
	switch {
	case err != nil && len(found) == 0 && len(named) == 0:
		return err
	case err != nil:
		r.Unfound = err.Error()
	case asked && len(found) == 0 && len(named) == 0:
		return errNoPages
	}
	r.add(ctx, policy, found)
	r.finish()
	return nil
}

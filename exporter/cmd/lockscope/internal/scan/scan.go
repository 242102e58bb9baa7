package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/sweep"
	"github.com/lockscope/lockscope/scanner"
)

const scanHelp = `Scan sweeps all locks of all servers once and reports those that are wrong:

  no_ttl         never expires: nobody can take it until somebody deletes it
  held_too_long  the same holder for longer than --max-hold: a zombie that still renews
  orphan         a Redlock's lock that only a minority of the nodes knows
  long_ttl       expires later than --max-ttl: often a mistaken unit
  foreign_type   a key where locks should be that no lock has the type of

It works on locks of any library. A finding counts when a second look, --confirm-after
later, finds the same value still there: a lock between SETNX and EXPIRE is no leak.

Exit status: 0 clean, 1 findings of a class in --fail-on, 2 an error: a server could not
be read to its end (the others are reported all the same), the sweep was cut short by
--deadline or a signal (what is known is reported, marked truncated), or bad input;
3 incomplete: nothing of a class in --fail-on was found, and not all was read. The report
has a line for each gap, with one of these reasons:

  node_failed          the server failed, or restarted during the sweep
  redirected           keys of which it said that another server has them
  replica_not_in_sync  a replica that is behind, cut off, or named as the server itself
  role_unknown         the server does not tell whether it is a master
  slots_uncovered      slots of a cluster that no server read serves
  slots_moving         slots on the move between two servers
  bound_reached        --deadline or --max-findings; the worst findings are kept, all are counted
  values_unread        --max-values
  holders_unwatched    more holders than are watched
  no_match             no key matches; --allow-empty if that is how it should be
  orphans_unproved     --checks names orphan, and the servers do not prove to be one Redlock's: see --redlock

JSON output (schema 1), in seconds, the same as webhooks get:
  {schema, status: clean|findings|incomplete|error, started, took_seconds, standby, unelected, truncated, overflow, omitted,
   complete, gaps[]: {group, node (absent: no single one's), reason, detail}, skipped[]: like gaps, not looked for and not asked for,
   excluded[]: {group, pattern, until, reason, findings, ended: it kept nothing out},
   nodes[]:    {group (of --config), node, took_seconds, locks, examined, calls, unread, unwatched, counts{class: n},
                path, truncated, error, matched{pattern: n}, redirected, indistinct, overflow, slots[]: "0-5460"},
   findings[]: {group, class, policy, node, key, key_base64, type, ttl_seconds (null: never expires),
                holder{format, name, since, traceparent, count, fence}, evidence, first_seen, last_seen},
   pending[]:  like findings, not confirmed because the sweep was cut short,
   resolved[]: like findings, gone since the sweep before: for webhooks of serve}
key is the key if it is printable, else a quoted string; key_base64 is its bytes, which only
a webhook leaves out, if they are more than 4 KiB. truncated says that something is missing.
Fields may be added; none changes its meaning within a schema.

--config names a file with groups of servers that have nothing to do with each other,
patterns with limits of their own, exclusions with an end and a reason, and who is told.
Flags win over it; servers are named by it or by flags, not both. See lockscope config.

--state FILE keeps what is known between scans: a holder of a library that does not say since
when it holds a lock is found to hold it for too long by the third scan that sees it.

--repair acts on confirmed findings, and only says what it would do unless --yes is given:
expire=1h lets the lock expire by itself, delete removes it. Nothing happens to a lock
whose value or TTL has changed since it was looked at, whose value does not tell its owner
from another one (constants, names, short ones, those of several keys), which was not seen
for --min-age, or about which the report is incomplete. What is left alone has a line that
says why. A scan begins without memory: lockscope repair plan writes down what it saw, and
lockscope repair apply acts on it when it is old enough. One audit line for each key goes
to standard error and is appended to --audit-log.`

const scanExample = `  lockscope scan --redis redis://10.0.0.1:6379
  lockscope scan --redis r1:6379,r2:6379,r3:6379 --max-hold 15m -o json
  lockscope scan --config /etc/lockscope/lockscope.yaml --quiet
  lockscope scan --redis r1:6379 --textfile /var/lib/node_exporter/lockscope.prom --fail-on none
  lockscope scan --redis r1:6379 --alertmanager http://alertmanager:9093 --every 1h
  lockscope scan --redis r1:6379 --repair expire=1h          # says what it would do
  lockscope scan --redis r1:6379 --repair expire=1h --yes --audit-log /var/log/lockscope-audit.log`

const (
	wordClean      = "clean"
	wordFindings   = "findings"
	wordIncomplete = "incomplete"
	wordError      = "error"
	failOnNone     = "none"
	defaultEvery   = time.Hour
)

type scanFlags struct {
	groups   sweep.GroupFlags
	output   output.Format
	quiet    bool
	failOn   *flags.List
	textfile string
	gateway  string
	job      string
	every    time.Duration
	repair   repairFlags
	memory   sweep.MemoryFlag
}

// Command is lockscope scan.
func Command(a *app.App) *cobra.Command {
	f := &scanFlags{failOn: flags.NewList("class", sweep.ClassNames()...)}
	cmd := &cobra.Command{
		Use: "scan", Short: "Look for leaked locks once, for cron", Long: scanHelp, Example: scanExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.groups.Register(set, 0)
	f.memory.Register(set, "")
	f.output.Register(set)
	f.repair.register(set)
	set.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing if there is nothing wrong")
	set.Var(f.failOn, "fail-on", "classes of findings that make the exit status 1; none for none")
	set.StringVar(&f.textfile, "textfile", "", "write the metrics of the sweep to this file, for node_exporter's "+
		"textfile collector")
	set.StringVar(&f.gateway, "pushgateway", "", "push the metrics of the sweep to this Pushgateway (http://host:9091)")
	set.StringVar(&f.job, "pushgateway-job", defaultJob, "job under which they are pushed")
	set.DurationVar(&f.every, "every", defaultEvery,
		"how often this command is run: an alert that is not sent again ends after four times that")
	return cmd
}

// plan is a scan whose flags have all been checked.
type plan struct {
	groups  sweep.Groups
	failOn  []scanner.Class
	gateway *gateway
	repair  *scanRepair
	bar     *progress // nil without a terminal
}

func (f *scanFlags) run(ctx context.Context, a *app.App) (err error) {
	p, err := f.plan(a)
	if err != nil {
		return err
	}
	defer p.close()
	return f.execute(ctx, a, p)
}

func (f *scanFlags) plan(a *app.App) (_ *plan, err error) {
	p := &plan{}
	if p.failOn, err = f.failOnClasses(); err != nil {
		return nil, err
	}
	if f.gateway != "" {
		if p.gateway, err = parseGateway(f.gateway, f.job); err != nil {
			return nil, err
		}
	}
	var opts []scanner.Option
	if a.Logger.Enabled(context.Background(), slog.LevelDebug) { // the report says the rest
		opts = append(opts, scanner.WithLogger(a.Logger))
	}
	opts = append(opts, scanner.WithRepairMinAge(f.repair.act.MinAge))
	if output.Terminal(a.ErrOut) > 0 {
		p.bar = newProgress(a.ErrOut)
		opts = append(opts, scanner.WithProgress(p.bar.report))
	}
	if p.repair, err = f.repair.open(a); err != nil {
		return nil, err
	}
	if p.groups, err = f.open(a, opts); err != nil {
		return nil, errors.Join(err, p.repair.close())
	}
	return p, nil
}

// open makes the groups, each with these options besides its own.
func (f *scanFlags) open(a *app.App, opts []scanner.Option) (sweep.Groups, error) {
	file, err := f.groups.Load()
	if err != nil {
		return nil, err
	}
	return f.groups.Build(a, file, f.every, nil, func(g *sweep.Group) ([]scanner.Option, error) {
		kept, err := f.memory.Options(g, false)
		return append(slices.Clip(opts), kept...), err
	})
}

func (p *plan) close() { _ = errors.Join(p.groups.Close(), p.repair.close()) }

func (f *scanFlags) failOnClasses() ([]scanner.Class, error) {
	names := f.failOn.Values()
	if slices.Equal(names, []string{failOnNone}) {
		return nil, nil
	}
	return sweep.ParseClasses("fail-on", names)
}

// execute sweeps, reports and publishes. What was found is reported before
// anything that can fail is tried.
func (f *scanFlags) execute(ctx context.Context, a *app.App, p *plan) error {
	if p.bar != nil {
		p.bar.keepUp()
	}
	reports, err := p.groups.Sweep(ctx)
	report := scanner.MergeReports(reports...)
	if p.bar != nil {
		p.bar.clear()
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: the report is what was known by then", app.ErrInterrupted)
	case err == nil && truncated(report):
		err = errTruncated
	}
	status, word := p.judge(report, err)
	if !f.quiet || f.output == output.JSON || err != nil || len(report.Findings) > 0 || status != app.ExitClean {
		err = errors.Join(err, writeScan(a, f.output, report, word))
	}
	if f.textfile != "" {
		err = errors.Join(err, writeTextfile(f.textfile, p.groups))
	}
	if p.gateway != nil {
		err = errors.Join(err, p.gateway.push(context.WithoutCancel(ctx), p.groups))
	}
	if p.repair != nil && ctx.Err() == nil {
		for i, g := range p.groups {
			err = errors.Join(err, p.repair.run(ctx, g.Scanner, reports[i]))
		}
	}
	if err != nil {
		return err
	}
	if status != app.ExitClean {
		return &app.StatusError{Status: status}
	}
	return nil
}

var errTruncated = errors.New("the sweep was cut short: the report may miss findings (see --deadline)")

func (p *plan) judge(r scanner.Report, err error) (status int, word string) {
	if err != nil {
		return app.ExitError, wordError
	}
	for _, f := range r.Findings {
		if slices.Contains(p.failOn, f.Class) {
			return app.ExitFindings, wordFindings
		}
	}
	if len(r.Incomplete()) > 0 {
		return app.ExitIncomplete, wordIncomplete
	}
	return app.ExitClean, wordClean
}

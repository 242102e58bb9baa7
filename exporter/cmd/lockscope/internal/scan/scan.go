// Package scan is lockscope scan: one sweep, its report, and the repair of findings.
package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

const scanHelp = `Look for leaked locks of any library once, for cron. Changes no lock without --repair.`

const scanExample = `  lockscope scan --redis 10.0.0.1:6379
  lockscope scan --redis r1:6379,r2:6379,r3:6379 --max-hold 15m -o json
  lockscope scan --config /etc/lockscope/lockscope.yaml --quiet
  lockscope scan --postgres postgres://monitor@db/shop --max-hold 15m`

const (
	wordClean      = "clean"
	wordFindings   = "findings"
	wordIncomplete = "incomplete"
	wordError      = "error"
	failOnNone     = "none"
	defaultEvery   = time.Hour
)

type scanFlags struct {
	groups  config.GroupFlags
	output  ui.Format
	quiet   bool
	failOn  *ui.List
	publish ui.Publish
	every   time.Duration
	repair  repairFlags
	memory  config.MemoryFlag
}

// Command is lockscope scan.
func Command(a *ui.App) *cobra.Command {
	f := &scanFlags{failOn: ui.NewList("class", config.ClassNames()...)}
	cmd := ui.Page{
		Everyday: []string{
			"config", "redis", "postgres", "etcd", "zookeeper", "prefix", "checks", "max-ttl", "max-hold", "output",
			"fail-on", "alertmanager", "textfile", "repair", "yes",
		},
		Exit:   "0 clean, 1 findings, 2 error, 3 incomplete: no findings, but parts were not read",
		Topics: []string{"findings", "json", "connection", "repair", "exit-codes"},
	}.On(&cobra.Command{
		Use: "scan", Short: "Look for leaked locks once, for cron", Long: scanHelp, Example: scanExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.groups.Register(set, 0)
	f.memory.Register(set, "")
	f.output.Register(set)
	f.repair.register(set)
	set.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing unless something is wrong")
	set.Var(f.failOn, "fail-on", "classes of findings that make the exit status 1 (default all). "+
		"none: findings do not change the status")
	f.publish.Register(set, ui.Alerts, "the sweep's metrics", "lockscope_scan")
	set.DurationVar(&f.every, "every", defaultEvery,
		"how often you run this command. An alert that is not sent again ends after four times this")
	ui.Group(set, ui.Result, "quiet", "fail-on")
	ui.Group(set, ui.Alerts, "every")
	return cmd
}

// plan is a scan whose flags have all been checked.
type plan struct {
	groups config.Groups
	failOn []inspect.Class
	repair *scanRepair
	bar    *ui.ProgressLine // nil without a terminal
}

func (f *scanFlags) run(ctx context.Context, a *ui.App) (err error) {
	p, err := f.plan(a)
	if err != nil {
		return err
	}
	defer p.close()
	return f.execute(ctx, a, p)
}

func (f *scanFlags) plan(a *ui.App) (_ *plan, err error) {
	p := &plan{}
	if p.failOn, err = f.failOnClasses(); err != nil {
		return nil, err
	}
	if f.every < time.Second {
		return nil, fmt.Errorf("--every %v: use 1s or more", f.every)
	}
	if err := f.publish.Validate(); err != nil {
		return nil, err
	}
	var opts []scanner.Option
	if a.Logger.Enabled(context.Background(), slog.LevelDebug) { // the report says the rest
		opts = append(opts, scanner.WithLogger(a.Logger))
	}
	opts = append(opts, scanner.WithRepairMinAge(f.repair.act.MinAge))
	if ui.Terminal(a.ErrOut) > 0 {
		p.bar = ui.NewProgressLine(a.ErrOut)
		opts = append(opts, scanner.WithProgress(p.bar.Report))
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
func (f *scanFlags) open(a *ui.App, opts []scanner.Option) (config.Groups, error) {
	file, err := f.groups.Load()
	if err != nil {
		return nil, err
	}
	if f.repair.action != "" && (f.groups.Others() || file.OtherThanRedis()) {
		return nil, errRepairOfSystems
	}
	return f.groups.Build(a, file, f.every, nil, func(g *config.Group) ([]scanner.Option, error) {
		kept, err := f.memory.Options(g, false)
		return append(slices.Clip(opts), kept...), err
	})
}

func (p *plan) close() {
	_ = errors.Join(p.groups.Close(), p.repair.close())
}

func (f *scanFlags) failOnClasses() ([]inspect.Class, error) {
	names := f.failOn.Values()
	if slices.Equal(names, []string{failOnNone}) {
		return nil, nil
	}
	return config.ParseClasses("fail-on", names)
}

// execute sweeps, reports and publishes. What was found is reported before
// anything that can fail is tried.
func (f *scanFlags) execute(ctx context.Context, a *ui.App, p *plan) error {
	if p.bar != nil {
		p.bar.KeepUp()
	}
	reports, err := p.groups.Sweep(ctx)
	report := report.Merge(reports...)
	if p.bar != nil {
		p.bar.Clear()
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: the report has what was known by then: %s", ui.ErrInterrupted, readText(report))
	case err == nil && truncated(report):
		err = errTruncated
	}
	status, word := p.judge(report, err)
	if !f.quiet || f.output == ui.JSON || err != nil || len(report.Findings) > 0 || status != ui.ExitClean {
		err = errors.Join(err, writeScan(a, f.output, report, word))
	}
	err = errors.Join(err, f.sendMetrics(ctx, p.groups))
	if p.repair != nil && ctx.Err() == nil {
		for i, g := range p.groups {
			err = errors.Join(err, p.repair.run(ctx, g.Scanner, reports[i]))
		}
	}
	if err != nil {
		return err
	}
	if status != ui.ExitClean {
		return &ui.StatusError{Status: status}
	}
	return nil
}

var errRepairOfSystems = errors.New("--repair is for Redis only: scan PostgreSQL, etcd and ZooKeeper without it, and " +
	"use \"lockscope repair plan\"")

var errTruncated = errors.New("the sweep was cut short and may miss findings: raise --deadline or see the errors")

func (p *plan) judge(r report.Report, err error) (status int, word string) {
	if err != nil {
		return ui.ExitError, wordError
	}
	for _, f := range r.Findings {
		if slices.Contains(p.failOn, f.Class) {
			return ui.ExitFindings, wordFindings
		}
	}
	if len(r.Incomplete()) > 0 {
		return ui.ExitIncomplete, wordIncomplete
	}
	return ui.ExitClean, wordClean
}

// sendMetrics sends what a scrape of serve would show of the scanner.
func (f *scanFlags) sendMetrics(ctx context.Context, s exporter.Snapshotter) error {
	return errors.Join(f.publish.Send(ctx, nil, func(prometheus.Labels) (prometheus.Gatherer, error) {
		reg := prometheus.NewRegistry()
		return reg, reg.Register(exporter.NewScanCollector(s))
	})...)
}

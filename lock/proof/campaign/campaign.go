//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/nemesis"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/report"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
	"github.com/lockscope/lockscope/lock/proof/internal/campaignlines"
)

// campaign is one run, from its beginning to its verdict.
type campaign struct {
	options
	plan     []nemesis.Fault
	site     *site.Site
	ledger   *ledger.Ledger
	nemesis  *nemesis.Nemesis
	began    time.Time
	evidence judge.Evidence
	redis    string
	lines    *campaignlines.Record // of the code as it was when the campaign began; nil unless they are to be written
	took     time.Duration         // until all locks were gone, after everything was mended
	rejected int                   // accesses to the ledger
	verdict  judge.Verdict
	soak     *soak        // nil unless the campaign is one
	soaked   *report.Soak // what it saw
}

// conduct runs a campaign and judges it. It fails only where no verdict is possible. If ctx
// ends, the campaign does, in order, and is judged as far as it came.
func conduct(ctx context.Context, o options) (c *campaign, err error) {
	c = &campaign{options: o, ledger: ledger.New()}
	if o.record != "" {
		if c.lines, err = campaignlines.Read(filepath.Join(filepath.Dir(o.record), ".."), ""); err != nil {
			return nil, err
		}
	}
	server, err := ledger.Serve(c.ledger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	size := site.Size{Nodes: nodes, Clients: o.clients, Members: nodes}
	if c.site, err = site.Open(ctx, size, c.orders(server.Addr())); err != nil {
		return nil, err
	}
	site := c.site // an error makes c nil
	defer func() { err = errors.Join(err, site.Close()) }()
	c.redis = c.site.Version(ctx)
	for client := range size.Clients {
		start := c.site.Crew.Start
		if client < o.forgers {
			start = c.site.Crew.StartForger
		}
		if err := start(client); err != nil {
			return nil, err
		}
	}
	tempo := nemesis.Storm
	if o.isSoak() {
		tempo = nemesis.Every(soakFaults)
		if c.soak, err = startSoak(ctx, c); err != nil {
			return nil, err
		}
		views := c.soak.viewers
		defer func() {
			if err != nil {
				err = errors.Join(err, views.Close())
			}
		}()
	}
	c.nemesis = nemesis.New(c.site, filepath.Join(o.dir, "disks"))
	c.plan = nemesis.NewPlan(o.seed, size, o.length, tempo)
	c.suffer(ctx)
	var grown []judge.Anomaly
	if c.soak != nil {
		if c.soaked, grown, err = c.soak.end(); err != nil {
			return nil, err
		}
	}
	if err := c.end(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.progress, "judging %d histories\n", len(c.evidence.Workers))
	c.verdict = judge.Judge(&c.evidence)
	c.verdict.Anomalies = append(c.verdict.Anomalies, grown...)
	return c, nil
}

func (c *campaign) orders(ledger string) site.Orders {
	o := site.Orders{
		Dir: c.dir, Ledger: ledger, Callers: c.callers, Builders: c.builders, MaxTTL: c.load().maxTTL,
		NodeTimeout: c.load().nodeTimeout, Pace: c.pace, Seed: c.seed,
		Soak: c.isSoak(), Leak: c.leak,
	}
	for i := range c.load().resources {
		o.Resources = append(o.Resources, fmt.Sprintf("job.%c%c", 'a'+i/26, 'a'+i%26))
	}
	return o
}

// progressEvery is how often a person is told.
const progressEvery = 10 * time.Second

// suffer lets the nemesis do its work for as long as the campaign goes on.
func (c *campaign) suffer(ctx context.Context) {
	c.began, c.evidence.Began = time.Now(), history.Now()
	over, cancel := context.WithTimeout(ctx, c.length)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.nemesis.Run(over, c.plan)
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if c.soak != nil {
			c.soak.watch(over)
		}
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for ended := over.Done(); ended != nil; {
		select {
		case <-tick.C:
			entries, _ := c.ledger.Entries()
			fmt.Fprintf(c.progress, "%v of %v: %d updates, %d of %d faults\n",
				time.Since(c.began).Round(time.Second), c.length, len(entries), len(c.nemesis.Done()), len(c.plan))
		case <-ended:
			ended = nil
		}
	}
	<-done
	<-watched
	c.length = time.Since(c.began)
}

// leftTime is how long a lock may live once all is over, beside its TTL: what the clocks of
// nodes were stepped by while it was on a disk.
const leftTime = 2 * 10 * time.Second

// end lets the workers end, and looks what is left.
func (c *campaign) end(ctx context.Context) (err error) {
	if err := c.site.Crew.StopAll(); err != nil {
		fmt.Fprintf(c.progress, "%v\n", err) // its worker is judged as one that was killed
	}
	c.evidence.Entries, c.rejected = c.ledger.Entries()
	err = errors.Join(writeLines(filepath.Join(c.dir, "ledger.jsonl"), c.evidence.Entries),
		writeLines(filepath.Join(c.dir, "faults.jsonl"), c.nemesis.Done()))
	if err != nil {
		return err
	}
	c.evidence.Left, c.took, c.evidence.Unseen = c.site.AwaitNoLocks(ctx, c.load().maxTTL+leftTime)
	return nil
}

func writeLines[T any](path string, all []T) error {
	w, err := history.Create(path)
	if err != nil {
		return err
	}
	for _, v := range all {
		w.Write(v)
	}
	return w.Close()
}

// read takes in what the workers have written.
func (c *campaign) read() error {
	for _, w := range c.site.Crew.Workers() {
		e := &judge.Worker{Name: w.Name, Client: w.Client, Killed: w.Killed, To: w.To, Failed: w.Failed}
		cut := w.Killed || w.Failed != ""
		var errs [3]error
		e.Events, errs[0] = readLines[history.Event](w.HistoryFile(), cut)
		e.Dumps, errs[1] = readLines[worker.Dump](w.MetricsFile(), cut)
		e.Log, errs[2] = readLines[judge.Record](w.LogFile(), cut)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		c.evidence.Workers = append(c.evidence.Workers, e)
	}
	return nil
}

// readLines is history.Read. A process that was killed at once has not even made its files.
func readLines[T any](path string, cut bool) ([]T, error) {
	all, err := history.Read[T](path, cut)
	if cut && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

func (c *campaign) ok() bool { return len(c.verdict.Anomalies) == 0 && c.verdict.Register.Ok() }

// publish writes the report to the directory and to w, and the page of porcupine where it
// found no order.
func (c *campaign) publish(w io.Writer) error {
	text := report.Text(report.Campaign{
		Seed: c.seed, Length: c.length, Began: c.began, Redis: c.redis, Clients: c.clients, Callers: c.callers,
		Nodes: nodes, Resources: c.load().resources, MaxTTL: c.load().maxTTL,
		Evidence: &c.evidence, Verdict: c.verdict, Faults: c.nemesis.Done(),
		Planned: len(c.plan), Rejected: c.rejected, LocksGone: c.took, Soak: c.soaked,
	})
	errs := []error{os.WriteFile(filepath.Join(c.dir, "report.md"), []byte(text), 0o644)}
	if !c.verdict.Register.Ok() {
		errs = append(errs, c.verdict.Register.Visualize(filepath.Join(c.dir, "porcupine.html")))
	}
	if c.ok() && c.lines != nil {
		c.lines.Of = report.Named(c.began, c.seed, c.length)
		errs = append(errs, writeRecord(c.record, c.lines))
	}
	_, err := fmt.Fprintf(w, "%s\nHistories, metrics, logs, faults and the ledger: %s\n", text, c.dir)
	return errors.Join(append(errs, err)...)
}

// writeRecord says which code the campaign speaks for.
func writeRecord(path string, lines *campaignlines.Record) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(lines.Write(f), f.Close())
}

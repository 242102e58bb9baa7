package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing/fstest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/proof/internal/check"
	"github.com/lockscope/lockscope/dashboards/proof/internal/world"
)

const (
	minute = 2 * time.Second // the length of a minute of the rules

	scheduledEvery = model.Duration(10 * time.Minute)

	// Rules that wait longer, about slowly burning budgets, fire only if the run lasts long enough, and keep
	// firing for hours.
	patience = 15 * minute

	troubleLimit = 5 * time.Minute
	outageLimit  = 3 * time.Minute
	calmLimit    = 5 * time.Minute
)

const (
	watchdog = "DistributedLockWatchdog" // fires while alerting works
	slow     = "DistributedLockNodeSlow" // also fires on a busy machine

	clock = "DistributedLockNodeClock" // one machine has one clock

	lately = "DistributedLockQuorumLostLately" // holds back what looks back on an outage, for hours
)

// untried need a day of history, or several machines: promtool tests them.
var untried = []string{"DistributedLockSilent", "DistributedLockSilentKeys", clock}

// ofNodes need frozen nodes, ofQuorum more frozen nodes than the quorum allows, ofExporter a stopped exporter. All
// other alerts fire before these.
var (
	ofQuorum = []string{"DistributedLockQuorumLost", lately, "DistributedLockAcquiresStalled", "DistributedLockNoLeader",
		"DistributedLockNodeDown",
		"DistributedLockScannerStale", "DistributedLockScannerIncomplete"}
	ofNodes    = append([]string{"DistributedLockQuorumAtRisk"}, ofQuorum...)
	ofExporter = []string{"DistributedLockExporterDown"}
)

// alerts makes every alert fire, one fault after another, and waits until none fires.
type alerts struct {
	*proof
	w     *world.World
	c     *check.Checker
	fired check.Fired
	all   []check.Live
	began time.Time
}

// runAlerts proves that every alert fires, and ends when the fault does.
func (p *proof) runAlerts(ctx context.Context, o options) (err error) {
	rules, err := scheduled(p.files)
	if err != nil {
		return err
	}
	w, err := world.Start(ctx, world.Config{Rules: rules, Tell: p.tell, Minute: minute, Native: o.native})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, w.Close())
		p.tell("all is stopped")
	}()
	a := &alerts{proof: p, w: w, c: check.New(nil, nil, w.Prometheus(), w.Alertmanager()), began: time.Now()}
	for _, step := range []func(context.Context) error{a.trouble, a.outage, a.absence, a.calm} {
		if err = step(ctx); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fmt.Fprintln(p.out)
	a.fired.Write(p.out, a.all, minute)
	fmt.Fprintln(p.out)
	return err
}

// scheduled adds a resource with an expected interval, which no fleet has by default.
func scheduled(files fs.FS) (fs.FS, error) {
	made, err := deploy.Files(files, deploy.Settings{Objectives: deploy.Objectives{
		Resources: []deploy.Resource{{Resource: world.Scheduled, Every: scheduledEvery}}}}, deploy.Plain)
	if err != nil {
		return nil, err
	}
	all := make(fstest.MapFS)
	for _, f := range made {
		all[f.Path] = &fstest.MapFile{Data: f.Text}
	}
	return all, nil
}

// trouble waits for the alerts that the services cause.
func (a *alerts) trouble(ctx context.Context) error {
	a.tell("services are in trouble")
	return a.until(ctx, troubleLimit, func() []check.Problem {
		return a.lacking(slices.Concat(ofNodes,
			ofExporter)...)
	})
}

// outage freezes two nodes, which puts the quorum at risk. Then it freezes a third, and the quorum is lost.
func (a *alerts) outage(ctx context.Context) error {
	a.tell("two of five redis-servers hang")
	thaw := a.w.Freeze(2)
	atRisk := a.until(ctx, outageLimit, func() []check.Problem {
		return a.lacking(slices.Concat(ofQuorum,
			ofExporter)...)
	})
	if err := errors.Join(atRisk, thaw()); err != nil {
		return err
	}
	a.tell("three of five redis-servers hang")
	thaw = a.w.Freeze(3)
	return errors.Join(a.until(ctx, outageLimit, func() []check.Problem { return a.lacking(ofExporter...) }), thaw())
}

func (a *alerts) absence(ctx context.Context) error {
	a.tell("the redis-servers go on; lockscope serve is stopped")
	return errors.Join(a.w.StopLockscope(),
		a.until(ctx, outageLimit, func() []check.Problem { return a.lacking() }),
		a.w.StartLockscope(ctx))
}

func (a *alerts) calm(ctx context.Context) error {
	a.tell("lockscope serve is there again, the keys are deleted, and all work goes well")
	return errors.Join(a.w.Recover(ctx),
		a.until(ctx, calmLimit, func() []check.Problem { return check.StillFiring(a.all, patience, watchdog, slow, lately) }))
}

// lacking returns the alerts that have not fired, except those that need longer.
func (a *alerts) lacking(later ...string) (problems []check.Problem) {
	var due []check.Live
	for _, live := range a.all {
		if !slices.Contains(untried, live.Name) && !slices.Contains(later, live.Name) {
			due = append(due, live)
		}
	}
	return a.fired.Lacking(due, patience)
}

// until polls the alerts until there are no problems.
func (a *alerts) until(ctx context.Context, limit time.Duration, problems func() []check.Problem) error {
	found, err := a.poll(ctx, a.w, limit, func() []check.Problem {
		all, err := a.c.AskAlerting(ctx)
		if err != nil {
			return []check.Problem{{Where: "alerts", What: err.Error()}}
		}
		a.all = all
		a.fired.Note(all, time.Since(a.began))
		return problems()
	})
	return errors.Join(err, a.show(found))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/dashboards/proof/internal/check"
	"github.com/lockscope/lockscope/dashboards/proof/internal/world"
)

const (
	// Recording rules over days need recorded series first, which can take two minutes. All else takes seconds.
	alertsLimit = 3 * time.Minute
	panelsLimit = 3 * time.Minute

	askAgain = 2 * time.Second

	hung = 2 // of five nodes; the rest is exactly the quorum

	shown = 20 // problems shown; without Prometheus, every check is one
)

// wanted are the alerts that must fire and arrive at the same time.
func wanted() []string {
	return []string{"DistributedLockLeaked", "DistributedLockLost", "DistributedLockQuorumAtRisk"}
}

// proof is one run. Tests change its input to make it fail.
type proof struct {
	out    io.Writer
	files  fs.FS              // dashboards and rules
	began  func(*world.World) // called when the world is up
	proved func(context.Context, *world.World, *check.Checker)
	limit  time.Duration // for panels and rules
	starts time.Time
}

func newProof(out io.Writer) *proof {
	return &proof{out: out, files: dashboards.FS(), began: func(*world.World) {},
		proved: func(context.Context, *world.World, *check.Checker) {}, limit: panelsLimit, starts: time.Now()}
}

// tell writes a line, prefixed with the time since the start.
func (p *proof) tell(format string, args ...any) {
	fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.starts).Seconds(), fmt.Sprintf(format, args...))
}

var errNotProved = errors.New("not proved")

// run starts a world, runs the proof and ends the world. It leaves nothing behind, even on error.
func (p *proof) run(ctx context.Context, o options) (err error) {
	boards, err := check.Load(p.files)
	if err != nil {
		return err
	}
	w, err := world.Start(ctx, world.Config{Length: o.length, Rules: p.files, Tell: p.tell, Native: o.native})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, w.Close())
		p.tell("all is stopped")
	}()
	p.began(w)
	c := check.New(boards, map[string]string{"resource": world.Resource}, w.Prometheus(), w.Alertmanager())
	c.Quiet = []string{
		// Processes that Prometheus cannot reach: there are none.
		"job_instance:up:blind5m",
		"job_backend_group:distributed_lock_nodes_short_of_quorum:sum", // in tests
		// They need a day of history: see the tests of DistributedLockSilent.
		"job_resource:distributed_lock_usual_interval:seconds", "job_resource:distributed_lock_known_interval:seconds",
		// Nothing of the demo runs without its lock: see TestAlerts.
		"job_resource:distributed_lock_unprotected_runs:rate5m",
		// Stalled calls exist for seconds here, and for minutes in TestAlerts.
		"job_instance_resource:distributed_lock_stalled:sum", "job_resource:distributed_lock_unserved:rate5m",
	}
	if err = p.prove(ctx, w, c); err == nil {
		p.proved(ctx, w, c)
	}
	if o.keep && ctx.Err() == nil {
		p.keep(ctx, w, err)
	}
	return err
}

func (p *proof) prove(ctx context.Context, w *world.World, c *check.Checker) error {
	if err := w.AwaitDemoLeak(ctx); err != nil {
		return err
	}
	p.tell("the demo has planted its leak; two of five redis-servers hang from now on")
	hung, err := p.alarmed(ctx, w, c)
	if err != nil {
		return err
	}
	p.tell("%v are firing, and the Alertmanager has them; the redis-servers go on", wanted())
	return p.answered(ctx, w, c, hung)
}

// alarmed freezes nodes until the wanted alerts fire and the panels that need frozen nodes have data.
func (p *proof) alarmed(ctx context.Context, w *world.World, c *check.Checker) (all []check.Alert, err error) {
	thaw := w.Freeze(hung)
	problems, err := p.poll(ctx, w, alertsLimit, func() []check.Problem {
		var err error
		if all, err = c.AskAlerts(ctx); err != nil {
			return []check.Problem{{Where: "alerts", What: err.Error()}}
		}
		return append(check.Missing(all, wanted()...), c.AskDefaulted(ctx, w.Age())...)
	})
	return all, errors.Join(err, p.show(problems), thaw())
}

// answered repeats all queries until there are no problems.
func (p *proof) answered(ctx context.Context, w *world.World, c *check.Checker, hung []check.Alert) error {
	s := summary{hung: hung}
	problems, err := p.poll(ctx, w, p.limit, func() []check.Problem {
		var ofPanels, ofRules, ofTargets []check.Problem
		s.tallies, ofPanels = c.AskPanels(ctx, w.Age())
		s.rules, ofRules = c.AskRules(ctx)
		s.targets, ofTargets = c.AskTargets(ctx)
		return slices.Concat(ofPanels, ofRules, ofTargets)
	})
	if ctx.Err() == nil {
		err = errors.Join(err, s.write(ctx, p.out, c))
	}
	return errors.Join(err, p.show(problems))
}

// poll checks until there are no problems, the limit is reached or a program of the world ends. It returns the
// problems of the last check.
func (p *proof) poll(ctx context.Context, w *world.World, limit time.Duration,
	look func() []check.Problem) ([]check.Problem, error) {
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for last := -1; ; {
		problems := look()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := w.Err(); err != nil {
			return problems, err
		}
		if len(problems) != last {
			last = len(problems)
			p.tell("%s", lacking(problems))
		}
		if last == 0 || time.Now().After(deadline) {
			return problems, nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func lacking(problems []check.Problem) string {
	if len(problems) == 0 {
		return "all is as it should be"
	}
	text := fmt.Sprintf("not yet: %s %s", problems[0].Where, problems[0].What)
	if more := len(problems) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// show writes the problems.
func (p *proof) show(problems []check.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	for _, problem := range problems[:min(shown, len(problems))] {
		fmt.Fprintf(p.out, "\nWRONG %v\n", problem)
	}
	return fmt.Errorf("%w: %d problems, the first in %s: %s", errNotProved, len(problems), problems[0].Where,
		problems[0].What)
}

// summary is the result of a run.
type summary struct {
	hung    []check.Alert
	tallies []check.Tally
	rules   check.Rules
	targets int
}

func (s summary) write(ctx context.Context, out io.Writer, c *check.Checker) error {
	fmt.Fprintln(out)
	check.WriteTallies(out, c.Boards, s.tallies)
	end, err := c.AskAlerts(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	check.WriteAlerts(out, s.hung, end)
	_, err = fmt.Fprintf(out,
		"\n%d rules in %d groups: %d alerts and %d recording rules; %d recorded a series; %d targets\n\n",
		s.rules.Alerting+s.rules.Recording, s.rules.Groups, s.rules.Alerting, s.rules.Recording, s.rules.Recorded,
		s.targets)
	return err
}

// keep waits until the user ends the world.
func (p *proof) keep(ctx context.Context, w *world.World, proved error) {
	if proved != nil {
		p.tell("%v", proved)
	}
	for _, u := range w.URLs() {
		fmt.Fprintf(p.out, "%s %s\n", u[0], u[1])
	}
	fmt.Fprintf(p.out, "resource %s\n", world.Resource)
	p.tell("kept until Ctrl-C")
	<-ctx.Done()
}

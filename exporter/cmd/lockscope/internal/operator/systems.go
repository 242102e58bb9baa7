package operator

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

var (
	errOneSystem = errors.New("a plan is for one system: name Redis servers, --postgres, --etcd or --zookeeper, and " +
		"make a plan for each")
	errAction     = errors.New("--action is for Redis: leave it out with --postgres, --etcd and --zookeeper")
	errOtherPlan  = errors.New("the plan is for another system than the flags name")
	errTerminate  = unsafe("ending a session needs --terminate")
	errNotInLooks = unsafe("the second look does not have it: make a new plan")
)

// oneSystem opens the system that the flags name.
func oneSystem(a *ui.App, f *servers.Flags, r *inspect.Rules) (*servers.System, error) {
	all, err := f.Systems(a, r)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 || f.Redis.Named() {
		return nil, errOneSystem
	}
	return all[0], nil
}

// planSystem sweeps a system beside Redis as scan does.
func (f *repairPlanFlags) planSystem(ctx context.Context, a *ui.App, classes []inspect.Class) error {
	rules, err := f.sweep.Rules()
	if err != nil {
		return err
	}
	if f.set.Changed("action") && f.action != repair.Delete().String() {
		return errAction
	}
	system, err := oneSystem(a, &f.servers, rules)
	if err != nil {
		return err
	}
	s, err := scanner.NewSystem(system, f.sweep.SystemOptions(rules.MaxHold)...)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	r, err := s.Sweep(ctx)
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	p := newPlan(system, r, NameOf(a, f.operator), rules.Prefixes)
	addSteps(&p, system, r.Findings, classes)
	return f.finish(a, p.Sealed(), err)
}

func newPlan(system *servers.System, r report.Report, operator string, prefixes []string) repair.Plan {
	now := time.Now().UTC().Truncate(time.Millisecond)
	p := repair.Plan{
		Schema: repair.Schema, Created: now, Expires: now.Add(repair.Life), Operator: operator,
		Servers: []string{system.Node()}, Patterns: append([]string{}, prefixes...),
		Steps: []repair.Step{}, Refused: []repair.Refusal{}, Gaps: []inspect.Gap{},
	}
	p.Gaps = append(p.Gaps, r.Incomplete()...)
	return p
}

// addSteps adds a step for each finding that can be repaired safely, and the reasons for the others.
func addSteps(p *repair.Plan, system *servers.System, findings []report.Finding, classes []inspect.Class) {
	for i := range findings {
		f := &findings[i]
		if !slices.Contains(classes, f.Class) {
			continue
		}
		var err error
		leak := system.Leak(f)
		switch {
		case leak == nil:
			err = errNotInLooks
		case leak.Action == "":
			err = unsafe(leak.Unsafe)
		}
		if err != nil {
			p.Refused = append(p.Refused, repair.Refusal{Node: f.Node, Key: f.Lock(), Class: f.Class,
				Reason: err.Error()})
			continue
		}
		p.Steps = append(p.Steps, repair.Step{
			Backend: f.Backend, Node: f.Node, Place: f.Place, Key: inspect.KeyText(f.Key),
			KeyBase64: base64.StdEncoding.EncodeToString([]byte(f.Key)), Class: f.Class, Type: f.Type,
			TTL: report.Seconds(f.TTL), Holder: f.Hold.Instance, Identity: leak.Guard, Digest: leak.Guard,
			FirstSeen: f.FirstSeen.UTC().Truncate(time.Millisecond), LastSeen: f.LastSeen.UTC().Truncate(time.Millisecond),
			Evidence: f.Evidence, Action: string(leak.Action),
		})
	}
}

// onlyRedis refuses a plan for another system.
func onlyRedis(p repair.Plan) error {
	for _, s := range p.Steps {
		if s.Backend != "" {
			return fmt.Errorf("%w: %s", errOtherPlan, s.Backend)
		}
	}
	return nil
}

// applySystem carries out a plan of a system beside Redis.
func (f *repairApplyFlags) applySystem(ctx context.Context, a *ui.App, path string, p repair.Plan) (err error) {
	system, err := oneSystem(a, &f.servers, &inspect.Rules{})
	if err != nil {
		return err
	}
	s, err := scanner.NewSystem(system)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := s.Begin(p); err != nil {
		return err
	}
	for _, step := range p.Steps {
		if step.Backend != system.Backend() {
			return fmt.Errorf("%w: %s", errOtherPlan, step.Backend)
		}
	}
	return f.apply(ctx, a, path, p, func(i int) (repair.Result, error) { return f.step(ctx, system, &p.Steps[i]) })
}

// step acts on one key, or says what it would do.
func (f *repairApplyFlags) step(ctx context.Context, system *servers.System, s *repair.Step) (r repair.Result,
	err error) {
	r = repair.Result{Node: s.Node, Key: s.Key, Class: s.Class}
	key, err := base64.StdEncoding.DecodeString(s.KeyBase64)
	switch age := time.Since(s.FirstSeen); {
	case err != nil:
		err = unsafe("its key is not readable")
	case age < f.act.MinAge:
		err = fmt.Errorf("%w: wait another %v", repair.ErrTooYoung, (f.act.MinAge - age).Round(time.Second))
	case s.Action == string(inspect.Terminate) && !f.terminate:
		err = errTerminate
	default:
		var refused error
		err = system.Ask(ctx, func(ctx context.Context, b servers.Other) error {
			outcome, failed := b.Repair(ctx, string(key), s.Digest, !f.yes)
			if r.Outcome = outcome; errors.Is(failed, inspect.ErrUnsafe) {
				refused, failed = unsafe(failed.Error()), nil
			}
			return failed
		})
		err = errors.Join(err, refused)
	}
	if err != nil {
		r.Outcome, err = "", &stepError{s, err}
	}
	return r, err
}

// unsafe is the error of a finding that only a person can judge.
func unsafe(why string) error { return fmt.Errorf("%w: %s", repair.ErrNotRepairable, why) }

// stepError names what was to be done.
type stepError struct {
	step *repair.Step
	err  error
}

func (e *stepError) Error() string {
	return fmt.Sprintf("%s of %s: %v", e.step.Action, e.step.Key, e.err)
}

func (e *stepError) Unwrap() error { return e.err }

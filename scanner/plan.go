package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// planSkew is the tolerated difference between the clocks of the plan's maker and its executor.
const planSkew = time.Minute

// Plan plans the repair of a report's findings of the given classes, whatever their age: the age is checked when the
// plan is applied. Refused lists the findings that [Scanner.Repair] would refuse for another reason. The report must
// be that of this Scanner's last sweep.
//
// Where a process may reuse the value for its next lease, Plan watches the key for some seconds, see [PlanRun.Apply].
// That needs the rules of [RepairACL]. For all other findings it sends nothing to any server. The error is
// [repair.ErrInvalidAction], [ErrClosed] or that of ctx.
func (s *Scanner) Plan(ctx context.Context, r report.Report, operator string, a repair.Action,
	classes ...inspect.Class) (repair.Plan, error) {
	if err := a.Validate(); err != nil {
		return repair.Plan{}, err
	}
	ctx, cancel := s.during(ctx)
	defer cancel()
	now := s.cfg.now().UTC().Truncate(time.Millisecond)
	p := repair.Plan{
		Schema: repair.Schema, Created: now, Expires: now.Add(repair.Life), Operator: operator,
		Servers: node.Names(s.sources), Patterns: slices.Clone(s.cfg.scope.Patterns),
		Steps: []repair.Step{}, Refused: []repair.Refusal{}, Gaps: []inspect.Gap{},
	}
	var found []registry.Entry
	var errs []error
	for _, f := range r.Findings {
		if slices.Contains(classes, f.Class) {
			own, err := s.proved(&f)
			if err != nil {
				own.Finding = f
			}
			found, errs = append(found, own), append(errs, err)
		}
	}
	s.repairer.Unwritten(ctx, found, errs, p.Patterns)
	if ctx.Err() != nil {
		return repair.Plan{}, context.Cause(ctx)
	}
	for i := range found {
		f := &found[i]
		if errs[i] != nil {
			p.Refused = append(p.Refused, repair.Refusal{Node: f.Node, Key: inspect.KeyText(f.Key), Class: f.Class,
				Reason: errs[i].Error()})
			continue
		}
		p.Steps = append(p.Steps, apply.NewStep(f, a))
	}
	p.Gaps = append(p.Gaps, r.Incomplete()...)
	return p.Sealed(), nil
}

// PlanRun applies a [repair.Plan]. It is safe for concurrent use.
type PlanRun struct {
	s    *Scanner
	plan repair.Plan
}

// Begin prepares to apply a plan on its servers, which must have the same names in this Scanner. It sends nothing to
// any server. The error is [repair.ErrInvalidPlan] or [ErrClosed]. Of a Scanner that [NewSystem] made it checks the
// plan alone.
func (s *Scanner) Begin(p repair.Plan) (*PlanRun, error) {
	now := s.cfg.now()
	wrong := func(format string, args ...any) (*PlanRun, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{repair.ErrInvalidPlan}, args...)...)
	}
	switch servers := s.servers(); {
	case s.life.Err() != nil:
		return nil, ErrClosed
	case !p.Intact():
		return wrong("the content does not match its id: make a new plan")
	case p.Created.After(now.Add(planSkew)):
		return wrong("it was made in the future, at %v: correct the clocks", p.Created)
	case now.Sub(p.Created) > repair.Life || now.After(p.Expires):
		return wrong("it expired at %v: make a new plan", p.Expires)
	case !slices.Equal(p.Servers, servers):
		return wrong("it is for %s, not for %s", strings.Join(p.Servers, ", "), strings.Join(servers, ", "))
	}
	return &PlanRun{s: s, plan: p}, nil
}

// servers are the names that a plan has.
func (s *Scanner) servers() []string {
	if s.system != nil {
		return []string{s.system.Node()}
	}
	return node.Names(s.sources)
}

// Apply carries out the step with that index. With dry it only reports what it would do. Two conditions hold for
// every step:
//
//   - The key still has the planned value, compared as [Scanner.Repair] does.
//   - The maker of the plan first saw the value at least as long ago as [WithRepairMinAge] says. Otherwise the error
//     matches [repair.ErrTooYoung].
//
// A process may reuse some values for its next lease (Kept of the step). Then value and age do not show whether the
// key was released and acquired again, and an expiry may be the same each time, such as midnight. Apply touches such a
// key only if OBJECT IDLETIME proves that nobody has used it since the plan was made; [Scanner.Plan] has seen to it
// that a use a moment later shows. Otherwise the error matches [repair.ErrNotRepairable]. Waiters of the lock may use
// the key, too, and before Redis 7.2 each look of a sweep does. A server with an LFU policy keeps no idle time.
//
// Apply compares an [inspect.Orphan] with the other nodes once more. If they do not all answer, the error matches
// [repair.ErrIncomplete]. The error is a [*repair.Error]. Applying a step again is harmless. ctx bounds the call.
func (r *PlanRun) Apply(ctx context.Context, step int, dry bool) (repair.Result, error) {
	f, a, err := apply.Read(&r.plan.Steps[step])
	if r.s.system != nil {
		err = fmt.Errorf("%w: a Scanner of %s repairs nothing", repair.ErrNotRepairable, r.s.system.Backend())
	}
	if dry {
		a = a.DryRun()
	}
	result := repair.Result{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	if err == nil {
		err = r.s.repairer.OldEnough(f.FirstSeen)
	}
	return r.s.perform(ctx, result, err, func(ctx context.Context) (inspect.Outcome, time.Duration, error) {
		return r.s.repairer.Step(ctx, &f, a, r.plan.Patterns)
	})
}

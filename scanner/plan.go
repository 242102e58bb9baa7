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
// That needs the rules of [RepairACL]. For all other findings it sends nothing to any server. In a system other than
// Redis the action follows from the finding. The error is [repair.ErrInvalidAction], [ErrClosed] or that of ctx.
func (s *Scanner) Plan(ctx context.Context, r report.Report, operator string, a repair.Action,
	classes ...inspect.Class) (repair.Plan, error) {
	if err := a.Validate(); err != nil {
		return repair.Plan{}, err
	}
	ctx, cancel := s.during(ctx)
	defer cancel()
	now := s.cfg.now().UTC().Truncate(time.Millisecond)
	p := repair.Plan{
		Schema: repair.Schema, Created: now, Expires: now.Add(repair.Life), Operator: operator, Servers: s.servers(),
		Patterns: append([]string{}, s.patterns()...),
		Steps:    []repair.Step{}, Refused: []repair.Refusal{}, Gaps: append([]inspect.Gap{}, r.Incomplete()...),
	}
	var found []report.Finding
	for _, f := range r.Findings {
		if slices.Contains(classes, f.Class) {
			found = append(found, f)
		}
	}
	steps, errs := s.steps(ctx, found, a)
	if ctx.Err() != nil {
		return repair.Plan{}, context.Cause(ctx)
	}
	for i, f := range found {
		if errs[i] != nil {
			p.Refused = append(p.Refused, repair.Refusal{Node: f.Node, Key: f.Lock(), Class: f.Class, Reason: errs[i].Error()})
			continue
		}
		p.Steps = append(p.Steps, steps[i])
	}
	return p.Sealed(), nil
}

// steps has a step for each finding, or the reason why there is none.
func (s *Scanner) steps(ctx context.Context, found []report.Finding, a repair.Action) ([]repair.Step, []error) {
	steps, errs := make([]repair.Step, len(found)), make([]error, len(found))
	if s.system != nil {
		for i := range found {
			steps[i], errs[i] = s.system.step(&found[i])
		}
		return steps, errs
	}
	own := make([]registry.Entry, len(found))
	for i := range found {
		own[i], errs[i] = s.proved(&found[i])
	}
	s.repairer.Unwritten(ctx, own, errs, s.cfg.scope.Patterns)
	for i := range own {
		steps[i] = apply.NewStep(&own[i], a.InEarnest().String())
	}
	return steps, errs
}

// patterns are those of the keys that were read.
func (s *Scanner) patterns() []string {
	if s.system != nil {
		return s.system.rules.Prefixes
	}
	return s.cfg.scope.Patterns
}

// PlanRun applies a [repair.Plan]. It is safe for concurrent use.
type PlanRun struct {
	s    *Scanner
	plan repair.Plan
}

// Begin prepares to apply a plan on its servers, which must have the same names in this Scanner. It sends nothing to
// any server. The error is [repair.ErrInvalidPlan] or [ErrClosed].
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
	case slices.ContainsFunc(p.Steps, func(step repair.Step) bool { return step.Backend != s.backend() }):
		return wrong("the plan is for another system")
	case !slices.Equal(p.Servers, servers):
		return wrong("it is for %s, not for %s", strings.Join(p.Servers, ", "), strings.Join(servers, ", "))
	}
	return &PlanRun{s: s, plan: p}, nil
}

// servers are the names that plans and reports have.
func (s *Scanner) servers() []string {
	if s.system != nil {
		return []string{s.system.address}
	}
	return node.Names(s.sources)
}

// backend is the system as findings name it.
func (s *Scanner) backend() string {
	if s.system != nil {
		return s.system.name
	}
	return ""
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
// key only if OBJECT IDLETIME proves that nobody has used it since the plan was made; [Scanner.Plan] made sure
// that even a use right after it shows. Otherwise the error matches [repair.ErrNotRepairable]. Waiters of the lock may use
// the key, too, and before Redis 7.2 each look of a sweep does. A server with an LFU policy keeps no idle time.
//
// Apply compares an [inspect.Orphan] with the other nodes once more. If they do not all answer, the error matches
// [repair.ErrIncomplete]. In a system other than Redis, it compares the version or the session that the plan names. The
// error is a [*repair.Error]. Applying a step again is harmless. ctx bounds the call.
func (r *PlanRun) Apply(ctx context.Context, step int, dry bool) (repair.Result, error) {
	f, a, err := apply.Read(&r.plan.Steps[step])
	if dry {
		a = a.DryRun()
	}
	result := repair.Result{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	if err == nil {
		err = r.s.repairer.OldEnough(f.FirstSeen)
	}
	return r.s.perform(ctx, result, err, func(ctx context.Context) (inspect.Outcome, time.Duration, error) {
		if r.s.system != nil {
			outcome, err := r.s.system.apply(ctx, &r.plan.Steps[step], dry)
			return outcome, keyreader.Never, err
		}
		return r.s.repairer.Step(ctx, &f, a, r.plan.Patterns)
	})
}

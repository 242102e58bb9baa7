package scanner

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/repair"
)

const (
	// PlanSchema is the number of the JSON form of a [Plan]: it changes when the meaning
	// of a field does.
	PlanSchema = repair.Schema
	// PlanLife is for how long a plan can be carried out.
	PlanLife = repair.Life
	// planSkew is by how much the clocks of who makes a plan and who carries it out may differ.
	planSkew = time.Minute
)

// ErrInvalidPlan says that a plan is none, was changed after it was made, has expired, or
// is one for other servers. Its text has the remedy.
var ErrInvalidPlan = repair.ErrInvalidPlan

// What is to be done to keys, written down; package repair has it all.
type (
	// Plan is what a repair is to do, key by key, written down so that people can read it and
	// sign it off before anything is done. [Scanner.Plan] makes one, [Scanner.Begin] carries it
	// out, in another process and at another time as a rule.
	Plan = repair.Plan
	// PlanStep is what is to be done to one key on one node.
	PlanStep = repair.Step
	// PlanRefusal is a finding that cannot be repaired safely, and why.
	PlanRefusal = repair.Refusal
)

// ReadPlan reads a plan as [encoding/json] writes it. An error is of the reader, or
// [ErrInvalidPlan]: it is no plan, of another schema, or was changed after it was made.
func ReadPlan(r io.Reader) (Plan, error) { return repair.Read(r) }

// Plan writes down the repair of a report's findings of some classes, whatever their age:
// that is looked at when the plan is carried out. Findings that [Scanner.Repair] would
// refuse for another reason are in Refused. The report must be of this Scanner's last
// sweep. Nothing is sent to any server; the error is [ErrInvalidAction] or [ErrClosed].
func (s *Scanner) Plan(r Report, operator string, a Action, classes ...Class) (Plan, error) {
	if err := a.Validate(); err != nil {
		return Plan{}, err
	}
	if s.life.Err() != nil {
		return Plan{}, ErrClosed
	}
	now := s.cfg.now().UTC().Truncate(time.Millisecond)
	p := Plan{
		Schema: PlanSchema, Created: now, Expires: now.Add(PlanLife), Operator: operator,
		Servers: node.Names(s.sources), Patterns: slices.Clone(s.cfg.scope.Patterns),
		Steps: []PlanStep{}, Refused: []PlanRefusal{}, Gaps: []GapDocument{},
	}
	for _, f := range r.Findings {
		if !slices.Contains(classes, f.Class) {
			continue
		}
		own, err := s.proved(&f)
		if err != nil {
			p.Refused = append(p.Refused, PlanRefusal{Node: f.Node, Key: KeyText(f.Key), Class: f.Class,
				Reason: err.Error()})
			continue
		}
		p.Steps = append(p.Steps, apply.NewStep(&own, a))
	}
	for _, g := range r.Incomplete() {
		p.Gaps = append(p.Gaps, GapDocument(g))
	}
	return p.Sealed(), nil
}

// PlanRun carries out a [Plan]. It is safe for concurrent use.
type PlanRun struct {
	s    *Scanner
	plan Plan
}

// Begin makes ready to carry out a plan on the servers it is for, which this Scanner must
// have been given under the same names. Nothing is sent to any server yet. The error is
// [ErrInvalidPlan] or [ErrClosed].
func (s *Scanner) Begin(p Plan) (*PlanRun, error) {
	now := s.cfg.now()
	wrong := func(format string, args ...any) (*PlanRun, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{ErrInvalidPlan}, args...)...)
	}
	switch servers := node.Names(s.sources); {
	case s.life.Err() != nil:
		return nil, ErrClosed
	case !p.Intact():
		return wrong("the content does not match its id: make a new plan")
	case p.Created.After(now.Add(planSkew)):
		return wrong("it was made in the future, at %v: correct the clocks", p.Created)
	case now.Sub(p.Created) > PlanLife || now.After(p.Expires):
		return wrong("it expired at %v: make a new plan", p.Expires)
	case !slices.Equal(p.Servers, servers):
		return wrong("it is for %s, not for %s", strings.Join(p.Servers, ", "), strings.Join(servers, ", "))
	}
	return &PlanRun{s: s, plan: p}, nil
}

// Apply carries out the step with that index, or with dry says what it would do. The key
// must still have the planned value, which is compared as [Scanner.Repair] does, and the
// value must have been first seen as long ago as [WithRepairMinAge] says, by whoever made
// the plan: else the error matches [ErrTooYoung].
//
// Where a process may have the same value for its next lease (Kept of the step), value and
// age do not tell whether the key was released and taken anew. Such a key is touched only
// if it still ends when it was to end, or if OBJECT IDLETIME proves that nobody has used it
// since the plan was made, to within two seconds: else the error matches
// [ErrNotRepairable]. Whoever waits for the lock may use the key, too; before Redis 7.2 so
// does each look of a sweep. A server with an LFU policy keeps no idle time.
//
// An [Orphan] is compared with the other
// nodes once more; where they do not all tell, the error matches [ErrIncomplete]. Applying
// again is harmless. An error is a [*RepairError]; ctx bounds it.
func (r *PlanRun) Apply(ctx context.Context, step int, dry bool) (Repaired, error) {
	f, a, err := apply.Read(&r.plan.Steps[step])
	if dry {
		a = a.DryRun()
	}
	result := Repaired{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	if err == nil {
		err = r.s.repairer.OldEnough(f.FirstSeen)
	}
	return r.s.perform(ctx, result, err, func(ctx context.Context) (RepairOutcome, time.Duration, error) {
		return r.s.repairer.Step(ctx, &f, a, r.plan.Patterns)
	})
}

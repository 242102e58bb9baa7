package scanner

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/internal/value"
	"github.com/lockscope/lockscope/scanner/report"
)

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
	case p.Schema != PlanSchema || p.ID == "" || p.ID != p.seal():
		return wrong("it is not what its id stands for: make it anew")
	case p.Created.After(now.Add(planSkew)):
		return wrong("it was made in the future, at %v: set the clocks", p.Created)
	case now.Sub(p.Created) > PlanLife || now.After(p.Expires):
		return wrong("it expired at %v: make it anew", p.Expires)
	case !slices.Equal(p.Servers, servers):
		return wrong("it is for %s, and these are %s", strings.Join(p.Servers, ", "), strings.Join(servers, ", "))
	}
	return &PlanRun{s: s, plan: p}, nil
}

// Apply carries out the step with that index, or with dry says what it would do. The key
// must still have the planned value, which is compared as [Scanner.Repair] does, and the
// value must have been first seen as long ago as [WithRepairMinAge] says, by whoever made
// the plan: else the error matches [ErrTooYoung].
//
// Where a process may have the same value for its next hold (Kept of the step), value and
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
	f, a, err := r.plan.Steps[step].read()
	if dry {
		a = a.DryRun()
	}
	result := Repaired{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	if err == nil {
		err = r.s.cfg.oldEnough(f.FirstSeen, r.s.cfg.now())
	}
	return r.s.perform(ctx, result, err, func(ctx context.Context) (RepairOutcome, time.Duration, error) {
		return r.act(ctx, &f, a)
	})
}

// read makes a finding of a step.
func (p *PlanStep) read() (f ledger.Entry, a Action, err error) {
	key, err := base64.StdEncoding.DecodeString(p.KeyBase64)
	f = ledger.Entry{
		Finding: Finding{
			Class: p.Class, Node: p.Node, Key: string(key), Type: p.Type, TTL: keyreader.Never, Evidence: p.Evidence,
			FirstSeen: p.FirstSeen, LastSeen: p.LastSeen, Confirmed: true,
		},
		Facts: sight.Facts{Identity: p.Digest, Kept: p.Kept},
	}
	if err != nil {
		return f, a, fmt.Errorf("%w: a key is not base64", ErrInvalidPlan)
	}
	if !slices.Contains(report.Classes(), f.Class) {
		return f, a, fmt.Errorf("%w: there is no class %q", ErrInvalidPlan, f.Class)
	}
	if p.TTL != nil {
		f.TTL = time.Duration(*p.TTL * float64(time.Second))
	}
	f.Hold.Instance = p.Holder
	a, err = ParseAction(p.Action)
	return f, a, err
}

// act carries out a step, or says why not.
func (r *PlanRun) act(ctx context.Context, f *ledger.Entry, a Action) (RepairOutcome, time.Duration, error) {
	at, err := node.Find(ctx, r.s.sources, f.Node)
	if err != nil {
		return "", keyreader.Never, err
	}
	if f.Kept {
		return r.actIfUnused(ctx, at, f, a)
	}
	outcome, ttl, err := r.examine(ctx, at, f)
	if err != nil || outcome != RepairDone {
		return outcome, ttl, err
	}
	return r.s.repair(ctx, at, f, a)
}

// examine looks at the key before it is acted on: a plan has the digest of a value, and from
// the value itself is told whether it is an identity. [RepairDone] stands for a key that the
// action may be done to.
func (r *PlanRun) examine(ctx context.Context, at node.Connection, f *ledger.Entry) (RepairOutcome, time.Duration, error) {
	reader := at.Reader(keyreader.Query{}, keyreader.Capability{})
	found, err := reader.Look(ctx, []string{f.Key})
	if err != nil {
		return "", keyreader.Never, err
	}
	v := &found[0]
	switch {
	case reader.Redirected() > 0:
		return "", keyreader.Never, fmt.Errorf("%w: the key's slot has moved, or is on the move: make the plan anew", ErrIncomplete)
	case v.Gone():
		return RepairGone, keyreader.Never, nil
	case v.Type != f.Type || v.Identity() != f.Identity:
		return RepairChanged, v.TTL, nil
	case value.Kept(v) && !f.Kept:
		return "", v.TTL, fmt.Errorf("%w: the plan does not say that a process may keep this value: make it anew", ErrInvalidPlan)
	}
	f.Doubt = value.Doubt(v)
	f.Distinct = f.Doubt == ""
	if err := lockable(f, r.plan.Patterns); err != nil {
		return "", v.TTL, err
	}
	if f.Class == Orphan {
		if still, err := r.s.orphaned(ctx, at.Source, v); err != nil || !still {
			return RepairChanged, v.TTL, err
		}
	}
	return RepairDone, v.TTL, nil
}

// orphaned says whether the lock has no quorum, now.
func (s *Scanner) orphaned(ctx context.Context, src *node.Source, v *keyreader.Value) (bool, error) {
	o := orphan.New(s.sources)
	o.Prove(ctx, s.cfg.oneRedlock)
	if !o.Possible() {
		return false, fmt.Errorf("%w: %s", ErrIncomplete, o.Doubt())
	}
	tallies, _ := o.Count(ctx, src, []*keyreader.Value{v})
	if t := tallies[0]; !t.Held() && !t.Minority() {
		return false, fmt.Errorf("%w: nodes do not answer that could have the lock, too", ErrIncomplete)
	}
	return tallies[0].Minority(), nil
}

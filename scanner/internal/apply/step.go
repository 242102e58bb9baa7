package apply

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/internal/value"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// Read makes an entry of a step.
func Read(p *repair.Step) (f ledger.Entry, a repair.Action, err error) {
	key, err := base64.StdEncoding.DecodeString(p.KeyBase64)
	f = ledger.Entry{
		Finding: report.Finding{
			Class: p.Class, Node: p.Node, Key: string(key), Type: p.Type, TTL: keyreader.Never, Evidence: p.Evidence,
			FirstSeen: p.FirstSeen, LastSeen: p.LastSeen, Confirmed: true,
		},
		Facts: sight.Facts{Identity: p.Digest, Kept: p.Kept},
	}
	if err != nil {
		return f, a, fmt.Errorf("%w: a key is not base64", repair.ErrInvalidPlan)
	}
	if !slices.Contains(report.Classes(), f.Class) {
		return f, a, fmt.Errorf("%w: there is no class %q", repair.ErrInvalidPlan, f.Class)
	}
	if p.TTL != nil {
		f.TTL = time.Duration(*p.TTL * float64(time.Second))
	}
	f.Hold.Instance = p.Holder
	a, err = repair.ParseAction(p.Action)
	return f, a, err
}

// Step carries out what [Read] made of a step, or says why not. The patterns are the plan's.
func (r *Repairer) Step(
	ctx context.Context, f *ledger.Entry, a repair.Action, patterns []string,
) (repair.Outcome, time.Duration, error) {
	at, err := node.Find(ctx, r.Sources, f.Node)
	if err != nil {
		return "", keyreader.Never, err
	}
	if f.Kept {
		return r.actIfUnused(ctx, at, f, a, patterns)
	}
	outcome, ttl, err := r.examine(ctx, at, f, patterns)
	if err != nil || outcome != repair.Done {
		return outcome, ttl, err
	}
	return r.act(ctx, at, f, a)
}

// examine looks at the key before it is acted on: a plan has the digest of a value, and from
// the value itself is told whether it is an identity. [repair.Done] stands for a key that the
// action may be done to.
func (r *Repairer) examine(
	ctx context.Context, at node.Connection, f *ledger.Entry, patterns []string,
) (repair.Outcome, time.Duration, error) {
	reader := at.Reader(keyreader.Query{}, keyreader.Capability{})
	found, err := reader.Look(ctx, []string{f.Key})
	if err != nil {
		return "", keyreader.Never, err
	}
	v := &found[0]
	switch {
	case reader.Redirected() > 0:
		return "", keyreader.Never, fmt.Errorf("%w: the key's slot has moved, or is on the move: make the plan anew", repair.ErrIncomplete)
	case v.Gone():
		return repair.Gone, keyreader.Never, nil
	case v.Type != f.Type || v.Identity() != f.Identity:
		return repair.Changed, v.TTL, nil
	case value.Kept(v) && !f.Kept:
		return "", v.TTL, fmt.Errorf("%w: the plan does not say that a process may keep this value: make it anew", repair.ErrInvalidPlan)
	}
	f.Doubt = value.Doubt(v)
	f.Distinct = f.Doubt == ""
	if err := Lockable(f, patterns); err != nil {
		return "", v.TTL, err
	}
	if f.Class == report.Orphan {
		if still, err := r.orphaned(ctx, at.Source, v); err != nil || !still {
			return repair.Changed, v.TTL, err
		}
	}
	return repair.Done, v.TTL, nil
}

// orphaned says whether the lock has no quorum, now.
func (r *Repairer) orphaned(ctx context.Context, src *node.Source, v *keyreader.Value) (bool, error) {
	o := orphan.New(r.Sources)
	o.Prove(ctx, r.OneRedlock)
	if !o.Possible() {
		return false, fmt.Errorf("%w: %s", repair.ErrIncomplete, o.Doubt())
	}
	tallies, _ := o.Count(ctx, src, []*keyreader.Value{v})
	if t := tallies[0]; !t.HasQuorum() && !t.Minority() {
		return false, fmt.Errorf("%w: nodes do not answer that could have the lock, too", repair.ErrIncomplete)
	}
	return tallies[0].Minority(), nil
}

// NewStep plans an action on the key of an entry.
func NewStep(f *ledger.Entry, a repair.Action) repair.Step {
	return repair.Step{
		Node: f.Node, Key: report.KeyText(f.Key), KeyBase64: base64.StdEncoding.EncodeToString([]byte(f.Key)), Class: f.Class, Type: f.Type,
		TTL: report.Seconds(f.TTL), Holder: f.Hold.Instance, Identity: shownIdentity(f), Digest: f.Identity, Kept: f.Kept,
		FirstSeen: f.FirstSeen.UTC().Round(0), LastSeen: f.LastSeen.UTC().Round(0), Evidence: f.Evidence, Action: inEarnest(a).String(),
	}
}

// inEarnest is the action itself of one that was only to be tried out.
func inEarnest(a repair.Action) repair.Action {
	if a.Deletes() {
		return repair.Delete()
	}
	return repair.Expire(a.After())
}

// shownIdentity tells values apart for people, and nothing of them.
func shownIdentity(f *ledger.Entry) string {
	sum := sha256.Sum256([]byte(f.Type + " " + f.Identity))
	return hex.EncodeToString(sum[:8])
}

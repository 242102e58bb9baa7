package apply

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// Read makes an entry of a step.
func Read(p *repair.Step) (f registry.Entry, a repair.Action, err error) {
	key, err := base64.StdEncoding.DecodeString(p.KeyBase64)
	f = registry.Entry{
		Finding: report.Finding{
			Class: p.Class, Node: p.Node, Key: string(key), Type: p.Type, TTL: keyreader.Never, Evidence: p.Evidence,
			FirstSeen: p.FirstSeen, LastSeen: p.LastSeen, Confirmed: true,
		},
		Facts: registry.Facts{Identity: p.Digest, Kept: p.Kept, Until: p.UnwrittenUntil},
	}
	if err != nil {
		return f, a, fmt.Errorf("%w: a key is not valid base64", repair.ErrInvalidPlan)
	}
	if !slices.Contains(inspect.Classes(), f.Class) {
		return f, a, fmt.Errorf("%w: unknown class %q", repair.ErrInvalidPlan, f.Class)
	}
	if p.TTL != nil {
		f.TTL = time.Duration(*p.TTL * float64(time.Second))
	}
	f.Hold.Instance = p.Holder
	if p.Action == string(inspect.Terminate) && p.Backend != "" {
		return f, repair.Terminate(), nil
	}
	a, err = repair.ParseAction(p.Action)
	return f, a, err
}

// Step carries out what [Read] made of a step, or returns why not. patterns are those of the plan.
func (r *Repairer) Step(
	ctx context.Context, f *registry.Entry, a repair.Action, patterns []string,
) (inspect.Outcome, time.Duration, error) {
	at, err := node.Find(ctx, r.Sources, f.Node)
	if err != nil {
		return "", keyreader.Never, err
	}
	if f.Kept {
		return r.actIfUnused(ctx, at, f, a, patterns)
	}
	outcome, ttl, err := r.examine(ctx, at, f, patterns)
	if err != nil && redisconn.IsReply(err) && notPermitted(err) {
		err = fmt.Errorf("%w: grant %s", err, lacks(f, a, err))
	}
	if err != nil || outcome != inspect.Done {
		return outcome, ttl, err
	}
	return r.act(ctx, at, f, a)
}

// NewStep plans an action on the key of an entry.
func NewStep(f *registry.Entry, action string) repair.Step {
	return repair.Step{
		Backend: f.Backend, Node: f.Node, Place: f.Place, Key: inspect.KeyText(f.Key), KeyBase64: base64.StdEncoding.EncodeToString([]byte(f.Key)),
		Class: f.Class, Type: f.Type,
		TTL: report.Seconds(f.TTL), Holder: f.Hold.Instance, Identity: shownIdentity(f), Digest: f.Identity,
		Kept: f.Kept, UnwrittenUntil: f.Until,
		FirstSeen: f.FirstSeen.UTC().Round(0), LastSeen: f.LastSeen.UTC().Round(0), Evidence: f.Evidence,
		Action: action,
	}
}

// shownIdentity tells values apart for people, and reveals nothing of them.
func shownIdentity(f *registry.Entry) string {
	sum := sha256.Sum256([]byte(f.Type + " " + f.Identity))
	return hex.EncodeToString(sum[:8])
}

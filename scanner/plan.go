package scanner

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/report"
)

const (
	// PlanSchema is the number of the JSON form of a [Plan]: it changes when the meaning
	// of a field does.
	PlanSchema = 1
	// PlanLife is for how long a plan can be carried out.
	PlanLife = 24 * time.Hour
	// maxPlanBytes bounds what is read as a plan: some hundred thousand steps.
	maxPlanBytes = 64 << 20
	// planSkew is by how much the clocks of who makes a plan and who carries it out may differ.
	planSkew = time.Minute
)

// ErrInvalidPlan says that a plan is none, was changed after it was made, has expired, or
// is one for other servers. Its text has the remedy.
var ErrInvalidPlan = errors.New("scanner: the plan cannot be carried out")

// Plan is what a repair is to do, key by key, written down so that people can read it and
// sign it off before anything is done. [Scanner.Plan] makes one, [Scanner.Begin] carries it
// out, in another process and at another time as a rule.
//
// It has no lock's value or token. Digest is STRLEN and the SHA-1 of the first 256 bytes of
// a string, or HLEN and the SHA-1 of a hash's field names: what a server's script can
// compute, which has redis.sha1hex and no other. That is enough. Planned are only values with
// some 90 random bits or more, which no hash of theirs gives back; and to have another value
// taken for a planned one needs a second preimage, of which SHA-1 has none that is known.
// Its collisions are of no use: both values would be the same writer's, who needs no plan to
// lose a lock of his own.
type Plan struct {
	Schema   int           `json:"schema"`
	ID       string        `json:"id"` // SHA-256 of all the rest: a plan that was changed has another one
	Created  time.Time     `json:"created"`
	Expires  time.Time     `json:"expires"`
	Operator string        `json:"operator"` // who made it
	Servers  []string      `json:"servers"`  // names of the nodes given to New
	Patterns []string      `json:"patterns"` // of the keys that were looked at
	Steps    []PlanStep    `json:"steps"`
	Refused  []PlanRefusal `json:"refused"` // findings that are not in the plan
	Gaps     []GapDocument `json:"gaps"`    // what the sweep did not read
}

// PlanStep is what is to be done to one key on one node.
type PlanStep struct {
	Node      string    `json:"node"`
	Key       string    `json:"key"` // as [KeyText] writes it
	KeyBase64 string    `json:"key_base64"`
	Class     Class     `json:"class"`
	Type      string    `json:"type"`
	TTL       *float64  `json:"ttl_seconds"` // null: it never expires
	Holder    string    `json:"holder,omitempty"`
	Identity  string    `json:"identity"`             // of the value, for people: 16 digits of a SHA-256
	Digest    string    `json:"digest"`               // of the value, for the server; see [Plan]
	Kept      bool      `json:"value_kept,omitempty"` // its holder may have it again for its next hold; see [PlanRun.Apply]
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Evidence  string    `json:"evidence"`
	Action    string    `json:"action"` // as [ParseAction] reads it
}

// PlanRefusal is a finding that cannot be repaired safely, and why.
type PlanRefusal struct {
	Node   string `json:"node"`
	Key    string `json:"key"` // as [KeyText] writes it
	Class  Class  `json:"class"`
	Reason string `json:"reason"`
}

// Plan writes down the repair of a report's findings of some classes, whatever their age:
// that is looked at when the plan is carried out. Findings that [Scanner.Repair] would
// refuse for another reason are in Refused. The report must be of this Scanner's last
// sweep. Nothing is sent to any server; the error is [ErrInvalidAction] or [ErrClosed].
func (s *Scanner) Plan(r Report, operator string, a Action, classes ...Class) (Plan, error) {
	if err := a.validate(); err != nil {
		return Plan{}, err
	}
	if s.life.Err() != nil {
		return Plan{}, ErrClosed
	}
	now := s.cfg.now().UTC().Truncate(time.Millisecond)
	p := Plan{
		Schema: PlanSchema, Created: now, Expires: now.Add(PlanLife), Operator: operator, Servers: node.Names(s.sources), Patterns: slices.Clone(s.cfg.scope.Patterns),
		Steps: []PlanStep{}, Refused: []PlanRefusal{}, Gaps: []GapDocument{},
	}
	a.dry = false
	for _, f := range r.Findings {
		if !slices.Contains(classes, f.Class) {
			continue
		}
		own, err := s.proved(&f)
		if err != nil {
			p.Refused = append(p.Refused, PlanRefusal{Node: f.Node, Key: KeyText(f.Key), Class: f.Class, Reason: err.Error()})
			continue
		}
		p.Steps = append(p.Steps, newPlanStep(&own, a))
	}
	for _, g := range r.Incomplete() {
		p.Gaps = append(p.Gaps, GapDocument(g))
	}
	p.ID = p.seal()
	return p, nil
}

func newPlanStep(f *ledger.Entry, a Action) PlanStep {
	return PlanStep{
		Node: f.Node, Key: KeyText(f.Key), KeyBase64: base64.StdEncoding.EncodeToString([]byte(f.Key)), Class: f.Class, Type: f.Type,
		TTL: report.Seconds(f.TTL), Holder: f.Hold.Instance, Identity: shownIdentity(f), Digest: f.Identity, Kept: f.Kept,
		FirstSeen: f.FirstSeen.UTC().Round(0), LastSeen: f.LastSeen.UTC().Round(0), Evidence: f.Evidence, Action: a.String(),
	}
}

// shownIdentity tells values apart for people, and nothing of them.
func shownIdentity(f *ledger.Entry) string {
	sum := sha256.Sum256([]byte(f.Type + " " + f.Identity))
	return hex.EncodeToString(sum[:8])
}

// seal is the ID that a plan of this content has.
func (p Plan) seal() string {
	p.ID = ""
	text, err := json.Marshal(p)
	if err != nil {
		return "" // a year beyond 9999, in a plan that was not made here
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// ReadPlan reads a plan as [encoding/json] writes it. An error is of the reader, or
// [ErrInvalidPlan]: it is no plan, of another schema, or was changed after it was made.
func ReadPlan(r io.Reader) (Plan, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxPlanBytes))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("%w: it is none, or of another version of lockscope: %w", ErrInvalidPlan, err)
	}
	if p.Schema != PlanSchema {
		return Plan{}, fmt.Errorf("%w: its schema is %d, and this version knows %d: make it anew", ErrInvalidPlan, p.Schema, PlanSchema)
	}
	if p.ID == "" || p.ID != p.seal() {
		return Plan{}, fmt.Errorf("%w: it is not what its id stands for, and was changed after it was made: make it anew", ErrInvalidPlan)
	}
	return p, nil
}

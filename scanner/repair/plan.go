package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

const (
	// Schema is the number of the JSON form of a [Plan]: it changes when the meaning
	// of a field does.
	Schema = 1
	// Life is for how long a plan can be carried out.
	Life = 24 * time.Hour
	// maxPlanBytes bounds what is read as a plan: some hundred thousand steps.
	maxPlanBytes = 64 << 20
)

// Plan is what a repair is to do, key by key, written down so that people can read it and
// sign it off before anything is done. scanner.Scanner.Plan makes one, scanner.Scanner.Begin carries it
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
	Schema   int                  `json:"schema"`
	ID       string               `json:"id"` // SHA-256 of all the rest: a plan that was changed has another one
	Created  time.Time            `json:"created"`
	Expires  time.Time            `json:"expires"`
	Operator string               `json:"operator"` // who made it
	Servers  []string             `json:"servers"`  // names of the nodes given to New
	Patterns []string             `json:"patterns"` // of the keys that were looked at
	Steps    []Step               `json:"steps"`
	Refused  []Refusal            `json:"refused"` // findings that are not in the plan
	Gaps     []report.GapDocument `json:"gaps"`    // what the sweep did not read
}

// Step is what is to be done to one key on one node.
type Step struct {
	Node      string       `json:"node"`
	Key       string       `json:"key"` // as [report.KeyText] writes it
	KeyBase64 string       `json:"key_base64"`
	Class     report.Class `json:"class"`
	Type      string       `json:"type"`
	TTL       *float64     `json:"ttl_seconds"` // null: it never expires
	Holder    string       `json:"holder,omitempty"`
	Identity  string       `json:"identity"` // of the value, for people: 16 digits of a SHA-256
	Digest    string       `json:"digest"`   // of the value, for the server; see [Plan]
	// its holder may have it again for its next lease; see scanner.PlanRun.Apply
	Kept      bool      `json:"value_kept,omitempty"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Evidence  string    `json:"evidence"`
	Action    string    `json:"action"` // as [ParseAction] reads it
}

// Refusal is a finding that cannot be repaired safely, and why.
type Refusal struct {
	Node   string       `json:"node"`
	Key    string       `json:"key"` // as [report.KeyText] writes it
	Class  report.Class `json:"class"`
	Reason string       `json:"reason"`
}

// Sealed has the ID that stands for the rest.
func (p Plan) Sealed() Plan {
	p.ID = p.seal()
	return p
}

// Intact says that the plan is of this schema, and what its ID stands for.
func (p Plan) Intact() bool { return p.Schema == Schema && p.ID != "" && p.ID == p.seal() }

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

// Read reads a plan as [encoding/json] writes it. An error is of the reader, or
// [ErrInvalidPlan]: it is no plan, of another schema, or was changed after it was made.
func Read(r io.Reader) (Plan, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxPlanBytes))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("%w: not a plan, or made by another version of lockscope: %w", ErrInvalidPlan, err)
	}
	if p.Schema != Schema {
		return Plan{}, fmt.Errorf("%w: its schema is %d, this version reads %d: make a new plan", ErrInvalidPlan,
			p.Schema,
			Schema)
	}
	if p.ID == "" || p.ID != p.seal() {
		return Plan{},
			fmt.Errorf("%w: the content does not match its id, so it was changed: make a new plan",
				ErrInvalidPlan)
	}
	return p, nil
}

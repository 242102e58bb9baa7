package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const (
	// Schema is the version of the JSON form of a [Plan]. It changes when the meaning of a field changes.
	Schema = 1
	// Life is how long a plan can be applied.
	Life = 24 * time.Hour
	// maxPlanBytes bounds the size of a plan: some hundred thousand steps.
	maxPlanBytes = 64 << 20
)

// Plan lists what a repair is to do, key by key, so that people can read and approve it first. scanner.Scanner.Plan
// makes a plan and scanner.Scanner.Begin carries it out, usually in another process and later.
//
// A plan has no lock's value or token. Digest is STRLEN and the SHA-1 of the first 256 bytes of a string, HLEN and the
// SHA-1 of a hash's field names, or 1 and the SHA-1 of a reader's token. SHA-1 is the only digest that a script in the
// server can compute, and it is enough here: only values with some 90 random bits or more are planned, so a digest does
// not reveal them. To have another value taken for a planned one needs a second preimage, and none is known for SHA-1.
// Collisions do not help: both values would come from one writer, who can lose its own lock without a plan.
type Plan struct {
	Schema   int           `json:"schema"`
	ID       string        `json:"id"` // SHA-256 of the rest, so that a change is detected
	Created  time.Time     `json:"created"`
	Expires  time.Time     `json:"expires"`
	Operator string        `json:"operator"` // who made it
	Servers  []string      `json:"servers"`  // names of the nodes, as given to scanner.New
	Patterns []string      `json:"patterns"` // of the keys that were read
	Steps    []Step        `json:"steps"`
	Refused  []Refusal     `json:"refused"` // findings left out of the plan
	Gaps     []inspect.Gap `json:"gaps"`    // what the sweep did not read
}

// Step is the action on one key of one node.
type Step struct {
	Backend   string        `json:"backend,omitempty"` // as in [report.Finding]; left out for Redis
	Node      string        `json:"node"`
	Place     string        `json:"place,omitempty"` // as in [report.Finding]
	Key       string        `json:"key"`             // as [inspect.KeyText] writes it
	KeyBase64 string        `json:"key_base64"`
	Class     inspect.Class `json:"class"`
	Type      string        `json:"type"`
	TTL       *float64      `json:"ttl_seconds"` // null: no TTL
	Holder    string        `json:"holder,omitempty"`
	Identity  string        `json:"identity"` // of the value, for people: 16 digits of a SHA-256 digest
	Digest    string        `json:"digest"`   // of the value, for the server; see [Plan]. Of other systems: a version
	// a process may reuse the value for its next lease; see scanner.PlanRun.Apply
	Kept bool `json:"may_be_reused,omitempty"`
	// of such a value: until when, by the server's lru_clock, the plan proved that nobody wrote the key
	UnwrittenUntil int64 `json:"unwritten_until,omitempty"`

	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Evidence  string    `json:"evidence"`
	Action    string    `json:"action"` // as [ParseAction] reads it; of PostgreSQL: terminate
}

// Refusal is a finding that cannot be repaired safely, and the reason.
type Refusal struct {
	Node   string        `json:"node"`
	Key    string        `json:"key"` // as [inspect.KeyText] writes it
	Class  inspect.Class `json:"class"`
	Reason string        `json:"reason"`
}

// Sealed returns the plan with the ID that stands for its content.
func (p Plan) Sealed() Plan {
	p.ID = p.seal()
	return p
}

// Intact reports whether the plan has this schema and its content matches its ID.
func (p Plan) Intact() bool { return p.Schema == Schema && p.ID != "" && p.ID == p.seal() }

// seal returns the ID of the plan's content.
func (p Plan) seal() string {
	p.ID = ""
	text, err := json.Marshal(p)
	if err != nil {
		return "" // a year beyond 9999, in a plan from elsewhere
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Read reads a plan as [encoding/json] writes it. The error is the reader's, or [ErrInvalidPlan] for something that
// is not a plan, for another schema and for a plan that was changed after it was made.
func Read(r io.Reader) (Plan, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxPlanBytes))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("%w: not a plan, or made by another version of lockscope: %w", ErrInvalidPlan, err)
	}
	if p.Schema != Schema {
		return Plan{}, fmt.Errorf("%w: its schema is %d, this version reads %d: make a new plan", ErrInvalidPlan, p.Schema,
			Schema)
	}
	if p.ID == "" || p.ID != p.seal() {
		return Plan{}, fmt.Errorf("%w: the content does not match its id, so it was changed: make a new plan", ErrInvalidPlan)
	}
	return p, nil
}

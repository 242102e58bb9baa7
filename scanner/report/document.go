package report

import (
	"encoding/base64"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// DocumentSchema is the version of [Document]. It changes when a field changes its
// meaning or goes away, not when one is added.
const DocumentSchema = 1

// Document is the JSON form of a [Report], wherever one is written: by lockscope
// scan, to a webhook, on the page of locks. Times are in seconds. It has no owner
// token and no value, for a Report has none.
type Document struct {
	Schema    int       `json:"schema"`
	Instance  string    `json:"instance,omitempty"` // who swept, if its process was given a name
	Status    string    `json:"status,omitempty"`   // what a caller made of it: clean, findings or error
	Started   time.Time `json:"started,omitzero"`   // left out: nothing was swept yet
	Took      float64   `json:"took_seconds"`
	Standby   bool      `json:"standby"`
	Unelected bool      `json:"unelected,omitempty"` // it could not be told who was to sweep: others may have swept, too
	// something is missing: a node was not read to its end, or see the next two
	Truncated bool `json:"truncated"`
	Overflow  int  `json:"overflow"` // findings beyond the cap, counted but not kept
	Omitted   int  `json:"omitted"`  // findings left out of this document, to keep it small

	Complete bool          `json:"complete"` // all that was to be read is proved to have been read
	Gaps     []GapDocument `json:"gaps"`     // what is not
	Skipped  []GapDocument `json:"skipped"`  // what was not looked for, and was not asked for either

	Excluded []ExcludedDocument `json:"excluded,omitempty"` // what exclusions kept out

	Nodes    []NodeDocument    `json:"nodes"`
	Findings []FindingDocument `json:"findings"` // confirmed and still there, worst first
	Pending  []FindingDocument `json:"pending"`  // seen once
	Resolved []FindingDocument `json:"resolved"` // confirmed by an earlier sweep and gone or healed now
}

// NodeDocument is the JSON form of a [NodeReport].
type NodeDocument struct {
	Group     string        `json:"group,omitempty"` // of servers, where several are swept
	Node      string        `json:"node"`
	Took      float64       `json:"took_seconds"`
	Locks     int64         `json:"locks"`
	Examined  int64         `json:"examined"`
	Calls     int64         `json:"calls"`
	Unread    int64         `json:"unread"`
	Unwatched int64         `json:"unwatched"`
	Counts    map[Class]int `json:"counts"`
	Path      Path          `json:"path,omitempty"`
	Truncated bool          `json:"truncated"`
	Error     string        `json:"error,omitempty"`

	Matched    map[string]int64 `json:"matched,omitempty"` // locks by pattern; left out if they were not counted
	Redirected int64            `json:"redirected"`
	Indistinct int64            `json:"indistinct"` // locks whose values do not tell one holder from the next
	Overflow   int              `json:"overflow"`
	Slots      []string         `json:"slots,omitempty"` // "0-5460": of a cluster's node, those that were read
}

// GapDocument is the JSON form of a [Gap].
type GapDocument struct {
	Group  string `json:"group,omitempty"`
	Node   string `json:"node,omitempty"` // left out if it is no single node's
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
}

// ExcludedDocument is the JSON form of an [Excluded].
type ExcludedDocument struct {
	Group    string    `json:"group,omitempty"`
	Pattern  string    `json:"pattern"`
	Until    time.Time `json:"until"`
	Reason   string    `json:"reason"`
	Findings int       `json:"findings"`
	Ended    bool      `json:"ended"` // it kept nothing out: renew it or take it away
}

// FindingDocument is the JSON form of a [Finding].
type FindingDocument struct {
	Group string `json:"group,omitempty"`
	Class Class  `json:"class"`
	Node  string `json:"node"`
	Key   string `json:"key"` // as [KeyText] writes it
	// the key's bytes; left out if they are too many for the document
	KeyBase64 *string       `json:"key_base64,omitempty"`
	Type      string        `json:"type"`
	TTL       *float64      `json:"ttl_seconds"` // null: it never expires
	Holder    *HoldDocument `json:"holder,omitempty"`
	Policy    string        `json:"policy,omitempty"`
	Evidence  string        `json:"evidence"`
	FirstSeen time.Time     `json:"first_seen"`
	LastSeen  time.Time     `json:"last_seen"`
}

// HoldDocument is the JSON form of a [Hold].
type HoldDocument struct {
	Format      Format    `json:"format"`
	Name        string    `json:"name,omitempty"`
	Since       time.Time `json:"since,omitzero"` // by the holder's clock
	Traceparent string    `json:"traceparent,omitempty"`
	Count       int       `json:"count,omitempty"`
	Fence       uint64    `json:"fence,string,omitempty"`
}

// NewDocument writes a report as a Document. Its lists may be empty, never null.
func NewDocument(r Report) Document {
	d := Document{
		Schema: DocumentSchema, Started: r.Started, Took: r.Took.Seconds(), Standby: r.Standby, Unelected: r.Unelected,
		Truncated: r.Overflow > 0, Overflow: r.Overflow, Complete: !r.Standby && !r.Started.IsZero(),
		Gaps:     []GapDocument{},
		Skipped:  []GapDocument{},
		Nodes:    make([]NodeDocument, 0, len(r.Nodes)),
		Findings: newFindingDocuments(r.Findings), Pending: newFindingDocuments(r.Pending),
		Resolved: newFindingDocuments(r.Resolved),
	}
	for _, e := range r.Excluded {
		d.Excluded = append(d.Excluded, ExcludedDocument{e.Group, e.Pattern, e.Until, e.Reason, e.Findings, e.Ended})
	}
	for _, n := range r.Nodes {
		d.Nodes = append(d.Nodes, newNodeDocument(n))
		d.Truncated = d.Truncated || n.Truncated || n.Err != nil
	}
	d.Complete = d.Complete && !d.Truncated
	for _, g := range r.Incomplete() {
		d.Complete = false
		d.Gaps = append(d.Gaps, GapDocument(g))
	}
	for _, g := range r.Skipped {
		d.Skipped = append(d.Skipped, GapDocument(g))
	}
	return d
}

func newNodeDocument(n NodeReport) NodeDocument {
	d := NodeDocument{
		Group: n.Group, Node: n.Node, Took: n.Took.Seconds(), Locks: n.Locks, Examined: n.Examined, Calls: n.Calls,
		Unread: n.Unread, Unwatched: n.Unwatched, Counts: n.Counts, Path: n.Path, Truncated: n.Truncated,
		Matched: n.Matched, Redirected: n.Redirected, Overflow: n.Overflow, Indistinct: n.Indistinct,
	}
	for _, r := range n.Slots {
		d.Slots = append(d.Slots, server.SlotRange(r).String())
	}
	if d.Counts == nil {
		d.Counts = map[Class]int{}
	}
	if n.Err != nil {
		d.Error = n.Err.Error()
	}
	return d
}

func newFindingDocuments(findings []Finding) []FindingDocument {
	all := make([]FindingDocument, 0, len(findings))
	for _, f := range findings {
		encoded := base64.StdEncoding.EncodeToString([]byte(f.Key))
		all = append(all, FindingDocument{
			Group: f.Group, Class: f.Class, Node: f.Node, Key: KeyText(f.Key), KeyBase64: &encoded, Type: f.Type,
			TTL: Seconds(f.TTL), Holder: NewHoldDocument(f.Hold), Evidence: f.Evidence, Policy: f.Policy,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
		})
	}
	return all
}

// NewHoldDocument writes a hold, and nil for one that tells nothing.
func NewHoldDocument(h Hold) *HoldDocument {
	if h == (Hold{}) {
		return nil
	}
	return &HoldDocument{
		Format: h.Format, Name: h.Instance, Since: h.Since, Traceparent: h.Traceparent, Count: h.Count, Fence: h.Fence,
	}
}

// Seconds is how a document writes a TTL: null is none.
func Seconds(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	s := ttl.Seconds()
	return &s
}

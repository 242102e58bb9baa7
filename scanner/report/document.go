package report

import (
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// documentSchema is the version of [Document]. It changes when a field changes its meaning or is removed, not when
// one is added.
const documentSchema = 1

// Document is the JSON form of a [Report], the same in the output of lockscope scan, in webhooks and on the page of
// locks. Durations are in seconds. It has no owner token and no value.
type Document struct {
	Schema    int       `json:"schema"`
	Instance  string    `json:"instance,omitempty"` // name of the process that swept
	Status    string    `json:"status,omitempty"`   // verdict of the caller: clean, findings or error
	Started   time.Time `json:"started,omitzero"`   // left out before the first sweep
	Took      float64   `json:"took_seconds"`
	Standby   bool      `json:"standby"`
	Unelected bool      `json:"unelected,omitempty"` // swept without the scanner's lock: others may have swept, too
	// something is missing: a node was not read completely, or see Overflow and Omitted
	Truncated bool `json:"truncated"`
	Overflow  int  `json:"overflow"` // findings beyond the limit, counted but not kept
	Omitted   int  `json:"omitted"`  // findings left out to keep this document small

	Complete bool          `json:"complete"` // everything was proved to have been read
	Gaps     []inspect.Gap `json:"gaps"`     // what was not
	Skipped  []inspect.Gap `json:"skipped"`  // not looked for, and not asked for

	Excluded []Excluded `json:"excluded,omitempty"` // findings that exclusions kept out
	Silent   []Silent   `json:"silent,omitempty"`   // as in [Report]
	Silents  int        `json:"silents,omitempty"`  // listed or not

	Nodes    []NodeDocument    `json:"nodes"`
	Findings []FindingDocument `json:"findings"` // confirmed and still there, worst first
	Pending  []FindingDocument `json:"pending"`  // seen once
	Resolved []FindingDocument `json:"resolved"` // confirmed by an earlier sweep, now gone or healed
}

// NodeDocument is the JSON form of a [NodeReport].
type NodeDocument struct {
	Backend   string                `json:"backend,omitempty"` // left out for Redis
	Group     string                `json:"group,omitempty"`   // group of servers, if there are several
	Node      string                `json:"node"`
	Took      float64               `json:"took_seconds"`
	Locks     int64                 `json:"locks"`
	Examined  int64                 `json:"examined"`
	Calls     int64                 `json:"calls"`
	Unread    int64                 `json:"unread"`
	Unwatched int64                 `json:"unwatched"`
	Counts    map[inspect.Class]int `json:"counts"`
	Path      Path                  `json:"path,omitempty"`
	Truncated bool                  `json:"truncated"`
	Error     string                `json:"error,omitempty"`

	Matched    map[string]int64 `json:"matched,omitempty"` // locks by pattern; left out if not counted
	Redirected int64            `json:"redirected"`
	Indistinct int64            `json:"indistinct"`           // locks whose values do not identify one holder
	Undated    int64            `json:"undated,omitempty"`    // locks that do not show since when they are held
	Uncompared int64            `json:"uncompared,omitempty"` // locks not compared with the other nodes of a Redlock
	Overflow   int              `json:"overflow"`
	Slots      []string         `json:"slots,omitempty"` // "0-5460": slots read on a cluster's node
}

// FindingDocument is the JSON form of a [Finding].
type FindingDocument struct {
	Backend string        `json:"backend,omitempty"` // left out for Redis
	Group   string        `json:"group,omitempty"`
	Class   inspect.Class `json:"class"`
	Node    string        `json:"node"`
	Place   string        `json:"place,omitempty"` // as in [Finding]
	Key     string        `json:"key"`             // as [inspect.KeyText] writes it
	// the key's bytes; left out if too long for the document
	KeyBase64 *string       `json:"key_base64,omitempty"`
	Type      string        `json:"type"`
	TTL       *float64      `json:"ttl_seconds"` // null: no TTL
	Holder    *HoldDocument `json:"holder,omitempty"`
	Policy    string        `json:"policy,omitempty"`
	Team      string        `json:"team,omitempty"`
	Evidence  string        `json:"evidence"`
	Inferred  bool          `json:"inferred,omitempty"` // as in [Finding]
	FirstSeen time.Time     `json:"first_seen"`
	LastSeen  time.Time     `json:"last_seen"`
}

// HoldDocument is the JSON form of a [inspect.Hold].
type HoldDocument struct {
	Format      inspect.Format `json:"format"`
	Name        string         `json:"name,omitempty"`
	Since       time.Time      `json:"since,omitzero"` // by the holder's clock
	Traceparent string         `json:"traceparent,omitempty"`
	Count       int            `json:"count,omitempty"`
	Fence       uint64         `json:"fence,string,omitempty"`
	Kind        lock.Kind      `json:"kind,omitempty"`   // what the lock is part of
	Slots       int            `json:"slots,omitempty"`  // of the semaphore
	Reason      string         `json:"reason,omitempty"` // why it holds the lock, if it said so
	Done        bool           `json:"done,omitempty"`   // it has released the lock, which is kept for its minimum hold
}

// NewDocument converts a report into a Document. Its lists may be empty, but are never null.
func NewDocument(r Report) Document {
	d := Document{
		Schema: documentSchema, Started: r.Started, Took: r.Took.Seconds(), Standby: r.Standby, Unelected: r.Unelected,
		Truncated: r.Overflow > 0, Overflow: r.Overflow, Complete: !r.Standby && !r.Started.IsZero(),
		Gaps:     append([]inspect.Gap{}, r.Incomplete()...),
		Skipped:  append([]inspect.Gap{}, r.Skipped...),
		Excluded: r.Excluded, Silent: slices.Clone(r.Silent), Silents: r.Silents,
		Nodes:    make([]NodeDocument, 0, len(r.Nodes)),
		Findings: newFindingDocuments(r.Findings), Pending: newFindingDocuments(r.Pending),
		Resolved: newFindingDocuments(r.Resolved),
	}
	for _, n := range r.Nodes {
		d.Nodes = append(d.Nodes, newNodeDocument(n))
		d.Truncated = d.Truncated || n.Truncated || n.Err != nil
	}
	d.Complete = d.Complete && !d.Truncated && len(d.Gaps) == 0
	return d
}

func newNodeDocument(n NodeReport) NodeDocument {
	d := NodeDocument{
		Backend: n.Backend, Group: n.Group, Node: n.Node, Took: n.Took.Seconds(), Locks: n.Locks, Examined: n.Examined, Calls: n.Calls,
		Unread: n.Unread, Unwatched: n.Unwatched, Counts: n.Counts, Path: n.Path, Truncated: n.Truncated,
		Matched: n.Matched, Redirected: n.Redirected, Overflow: n.Overflow, Indistinct: n.Indistinct,
		Undated: n.Undated, Uncompared: n.Uncompared,
	}
	for _, r := range n.Slots {
		d.Slots = append(d.Slots, slotsText(r))
	}
	if d.Counts == nil {
		d.Counts = map[inspect.Class]int{}
	}
	if n.Err != nil {
		d.Error = n.Err.Error()
	}
	return d
}

// slotsText writes a range as CLUSTER NODES does.
func slotsText(r SlotRange) string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}

func newFindingDocuments(findings []Finding) []FindingDocument {
	all := make([]FindingDocument, 0, len(findings))
	for _, f := range findings {
		encoded := base64.StdEncoding.EncodeToString([]byte(f.Key))
		all = append(all, FindingDocument{
			Backend: f.Backend, Group: f.Group, Class: f.Class, Node: f.Node, Place: f.Place, Key: inspect.KeyText(f.Key), KeyBase64: &encoded, Type: f.Type,
			TTL: Seconds(f.TTL), Holder: NewHoldDocument(f.Hold), Evidence: f.Evidence, Policy: f.Policy, Team: f.Team,
			Inferred:  f.Inferred,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
		})
	}
	return all
}

// NewHoldDocument converts a hold. It returns nil for the zero Hold.
func NewHoldDocument(h inspect.Hold) *HoldDocument {
	if h == (inspect.Hold{}) {
		return nil
	}
	return &HoldDocument{
		Format: h.Format, Name: h.Instance, Since: h.Since, Traceparent: h.Traceparent, Count: h.Count, Fence: h.Fence,
		Kind: h.Kind, Slots: h.Slots, Reason: h.Reason, Done: h.Done,
	}
}

// Seconds returns a TTL in seconds as a document has it: nil for none.
func Seconds(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	return new(ttl.Seconds())
}

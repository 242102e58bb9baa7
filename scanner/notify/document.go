package notify

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// DocumentVersion is the version of [Document]. It changes when a field changes its
// meaning or goes away, not when one is added.
const DocumentVersion = 1

// Document is what a webhook receives: all that one sweep knows to be wrong, so a
// receiver that missed one loses nothing but the resolved findings of that one.
type Document struct {
	Version   int       `json:"version"`
	Instance  string    `json:"instance,omitempty"` // see WithInstance
	Started   time.Time `json:"started"`
	Took      float64   `json:"took_seconds"`
	Truncated bool      `json:"truncated"` // something is missing: a node stopped at a limit or failed, or see the next two
	Overflow  int       `json:"overflow"`  // findings beyond the scanner's cap, counted but not kept
	Omitted   int       `json:"omitted"`   // findings left out here to keep the document within its size
	Nodes     []Node    `json:"nodes"`
	Findings  []Finding `json:"findings"` // confirmed and still there, worst first
	Resolved  []Finding `json:"resolved"` // gone or healed since the last sweep
}

// Node is what the sweep did on one node.
type Node struct {
	Node      string                `json:"node"`
	Took      float64               `json:"took_seconds"`
	Locks     int64                 `json:"locks"`
	Examined  int64                 `json:"examined"`
	Calls     int64                 `json:"calls"`
	Counts    map[scanner.Class]int `json:"counts"`
	Truncated bool                  `json:"truncated"`
	Error     string                `json:"error,omitempty"`
}

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class scanner.Class `json:"class"`
	Node  string        `json:"node"`
	// Key is the key as scanner.KeyText writes it, cut if it is longer than 1 KiB.
	Key string `json:"key"`
	// KeyBase64 is the key's bytes where Key is not just that; nil for a key of more
	// than 4 KiB.
	KeyBase64 *string   `json:"key_base64,omitempty"`
	Type      string    `json:"type"`
	TTL       *float64  `json:"ttl_seconds"` // null: it never expires
	Holder    *Holder   `json:"holder,omitempty"`
	Evidence  string    `json:"evidence"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

// Holder is what the lock's value says about who wrote it.
type Holder struct {
	Format      scanner.Format `json:"format"`
	Name        string         `json:"name,omitempty"`
	Since       *time.Time     `json:"since,omitempty"` // by the holder's clock
	Count       int            `json:"count,omitempty"` // re-entries
	Traceparent string         `json:"traceparent,omitempty"`
	Fence       uint64         `json:"fence,string,omitempty"`
}

const (
	maxDocument = 1 << 20 // bytes; many receivers refuse more
	maxKeyText  = 1 << 10
	maxKeyBytes = 4 << 10
	maxText     = 1 << 10 // of any other text that somebody else has written
)

// newDocument keeps as many findings as fit.
func newDocument(r scanner.Report, instance string) Document {
	d := Document{
		Version:  DocumentVersion,
		Instance: instance,
		Started:  r.Started,
		Took:     r.Took.Seconds(),
		Overflow: r.Overflow,
		Nodes:    make([]Node, 0, len(r.Nodes)),
	}
	for _, n := range r.Nodes {
		d.Nodes = append(d.Nodes, newNode(n))
		d.Truncated = d.Truncated || n.Truncated || n.Err != nil
	}
	budget := maxDocument - size(d)
	d.Findings = fitting(r.Findings, &budget)
	d.Resolved = fitting(r.Resolved, &budget)
	d.Omitted = len(r.Findings) + len(r.Resolved) - len(d.Findings) - len(d.Resolved)
	d.Truncated = d.Truncated || d.Overflow > 0 || d.Omitted > 0
	return d
}

// fitting stops at the first finding that does not fit, so that what is left out
// is less severe than what is there.
func fitting(findings []scanner.Finding, budget *int) []Finding {
	kept := make([]Finding, 0, min(len(findings), 256))
	for _, f := range findings {
		doc := newFinding(f)
		*budget -= size(doc) + len(",")
		if *budget < 0 {
			break
		}
		kept = append(kept, doc)
	}
	return kept
}

func size(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return maxDocument
	}
	return len(b)
}

func newNode(n scanner.NodeReport) Node {
	doc := Node{
		Node: clip(n.Node, maxText), Took: n.Took.Seconds(), Truncated: n.Truncated,
		Locks: n.Locks, Examined: n.Examined, Calls: n.Calls, Counts: n.Counts,
	}
	if doc.Counts == nil {
		doc.Counts = map[scanner.Class]int{}
	}
	if n.Err != nil {
		doc.Error = clip(n.Err.Error(), maxText)
	}
	return doc
}

func newFinding(f scanner.Finding) Finding {
	text := scanner.KeyText(f.Key)
	doc := Finding{
		Class: f.Class, Node: clip(f.Node, maxText), Key: clipUnique(text, maxKeyText), Type: f.Type,
		Holder: newHolder(f.Hold), Evidence: clip(f.Evidence, maxText),
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
	}
	if doc.Key != f.Key && len(f.Key) <= maxKeyBytes {
		encoded := base64.StdEncoding.EncodeToString([]byte(f.Key))
		doc.KeyBase64 = &encoded
	}
	if f.TTL >= 0 {
		seconds := f.TTL.Seconds()
		doc.TTL = &seconds
	}
	return doc
}

func newHolder(h scanner.Hold) *Holder {
	if h == (scanner.Hold{}) {
		return nil
	}
	doc := &Holder{
		Format: h.Format, Name: clip(h.Instance, maxText), Count: h.Count,
		Traceparent: clip(h.Traceparent, maxText), Fence: h.Fence,
	}
	if !h.Since.IsZero() {
		doc.Since = &h.Since
	}
	return doc
}

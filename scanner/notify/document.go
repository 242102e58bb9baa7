package notify

import (
	"encoding/base64"
	"encoding/json"

	"github.com/lockscope/lockscope/scanner"
)

const (
	maxDocument = 1 << 20 // bytes; many receivers refuse more
	maxKeyText  = 1 << 10
	maxKeyBytes = 4 << 10
	maxText     = 1 << 10 // of any other text from outside
)

// documents is the formatter of [Lockscope].
type documents struct {
	instance string
	always   bool
}

func (d *documents) messages(r scanner.Report) ([]message, error) {
	if !d.always && len(r.Findings)+len(r.Resolved)+r.Overflow == 0 {
		return nil, nil
	}
	body, err := json.Marshal(newDocument(r, d.instance))
	if err != nil {
		return nil, err
	}
	return []message{{body: body}}, nil
}

// newDocument keeps as many findings as fit, those that are there before those that
// are gone and those that were seen once.
func newDocument(r scanner.Report, instance string) scanner.Document {
	d := scanner.NewDocument(r)
	d.Instance = instance
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Node, n.Error = clip(n.Node, maxText), clip(n.Error, maxText)
	}
	findings, resolved, pending := d.Findings, d.Resolved, d.Pending
	d.Findings, d.Resolved, d.Pending = nil, nil, nil
	budget := maxDocument - size(d)
	d.Findings = fitting(findings, &budget)
	d.Resolved = fitting(resolved, &budget)
	d.Pending = fitting(pending, &budget)
	d.Omitted = len(findings) + len(resolved) + len(pending) - len(d.Findings) - len(d.Resolved) - len(d.Pending)
	d.Truncated = d.Truncated || d.Omitted > 0
	return d
}

// fitting stops at the first finding that does not fit, so that the ones left out are less severe than the ones kept.
func fitting(findings []scanner.FindingDocument, budget *int) []scanner.FindingDocument {
	kept := make([]scanner.FindingDocument, 0, len(findings))
	for _, f := range findings {
		clipFinding(&f)
		*budget -= size(f) + len(",")
		if *budget < 0 {
			break
		}
		kept = append(kept, f)
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

// clipFinding bounds every text. A cut key stays different from others.
func clipFinding(f *scanner.FindingDocument) {
	f.Node, f.Key, f.Evidence = clip(f.Node, maxText), clipUnique(f.Key, maxKeyText), clip(f.Evidence, maxText)
	if f.KeyBase64 != nil && len(*f.KeyBase64) > base64.StdEncoding.EncodedLen(maxKeyBytes) {
		f.KeyBase64 = nil
	}
	if f.Holder != nil {
		f.Holder.Name, f.Holder.Traceparent = clip(f.Holder.Name, maxText), clip(f.Holder.Traceparent, maxText)
	}
}

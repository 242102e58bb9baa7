package discover

import (
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// document is the result in JSON.
type document struct {
	Schema int       `json:"schema"`
	Nodes  []nodeDoc `json:"nodes"`
	Found  []found   `json:"found"`
}

type nodeDoc struct {
	Backend string   `json:"backend"`
	Node    string   `json:"node"`
	Looked  int      `json:"looked_at"`
	Unit    string   `json:"unit"`
	Whole   bool     `json:"whole"`
	Failed  bool     `json:"failed"`
	Notes   []string `json:"notes"`
}

type found struct {
	Backend    string   `json:"backend"`
	Node       string   `json:"node"`
	Library    string   `json:"library"`
	Pattern    string   `json:"pattern"`
	Keys       int      `json:"keys"`
	Example    string   `json:"example"`
	NoTTL      int      `json:"no_ttl"`
	MinTTL     *float64 `json:"min_ttl_seconds,omitempty"`
	MaxTTL     *float64 `json:"max_ttl_seconds,omitempty"`
	Confidence string   `json:"confidence"`
	Evidence   string   `json:"evidence"`
}

func newDocument(all []looked) document {
	d := document{Schema: ui.SchemaVersion, Nodes: []nodeDoc{}, Found: []found{}}
	for _, l := range all {
		d.Nodes = append(d.Nodes, nodeDoc{Backend: l.backend, Node: l.node, Looked: l.read.N, Unit: l.read.What,
			Whole: l.whole && !l.failed, Failed: l.failed, Notes: append([]string{}, l.notes...)})
		d.add(l)
	}
	return d
}

func (d *document) add(l looked) {
	for i := range l.found {
		f := &l.found[i]
		doc := found{Backend: l.backend, Node: l.node, Library: string(f.Library), Pattern: inspect.KeyText(f.Pattern),
			Keys: f.Keys, Example: clip(inspect.KeyText(f.Example)), NoTTL: f.NoTTL, Confidence: f.Confidence.String(),
			Evidence: f.Evidence}
		if f.MaxTTL > 0 {
			doc.MinTTL, doc.MaxTTL = new(f.MinTTL.Seconds()), new(f.MaxTTL.Seconds())
		}
		d.Found = append(d.Found, doc)
	}
}

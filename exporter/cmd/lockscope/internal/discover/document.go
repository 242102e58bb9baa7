package discover

import (
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
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
	Looked  int64    `json:"looked_at"`
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

func newDocument(all []discovered, others []laidOut) document {
	d := document{Schema: ui.SchemaVersion, Nodes: []nodeDoc{}, Found: []found{}}
	for i := range all {
		n := &all[i]
		d.Nodes = append(d.Nodes, nodeDoc{Backend: servers.Redis, Node: n.node.Name, Looked: n.result.Sampled, Unit: "keys",
			Whole: n.result.Whole && !n.failed, Failed: n.failed, Notes: []string{}})
		d.add(servers.Redis, n.node.Name, n.result.Found)
	}
	for i := range others {
		o := &others[i]
		system, address := o.inspector.System(), o.inspector.Address()
		d.Nodes = append(d.Nodes, nodeDoc{Backend: system, Node: address, Looked: int64(o.layouts.Read.N),
			Unit: o.layouts.Read.What, Whole: o.layouts.Whole && !o.failed, Failed: o.failed,
			Notes: append([]string{}, o.layouts.Notes...)})
		d.add(system, address, o.found)
	}
	return d
}

func (d *document) add(system, node string, all []discover.Found) {
	for i := range all {
		f := &all[i]
		doc := found{Backend: system, Node: node, Library: string(f.Library), Pattern: inspect.KeyText(f.Pattern),
			Keys: f.Keys, Example: clip(inspect.KeyText(f.Example)), NoTTL: f.NoTTL, Confidence: f.Confidence.String(),
			Evidence: f.Evidence}
		if f.MaxTTL > 0 {
			least, most := f.MinTTL.Seconds(), f.MaxTTL.Seconds()
			doc.MinTTL, doc.MaxTTL = &least, &most
		}
		d.Found = append(d.Found, doc)
	}
}

package operator

import (
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/scanner/report"
)

// revokeDocument is the result of revoke in JSON: see the topic json.
type revokeDocument struct {
	Schema   int             `json:"schema"`
	Resource string          `json:"resource"`
	Readers  bool            `json:"readers"`
	Holders  []revokedHolder `json:"holders"`
	Marked   int             `json:"marked"`
	Nodes    int             `json:"nodes"`
	FreeIn   *float64        `json:"free_in_seconds"`
}

type revokedHolder struct {
	Name  string     `json:"name"`
	Since time.Time  `json:"since"`
	Fence uint64     `json:"fence,string,omitempty"`
	Done  bool       `json:"done,omitempty"`
	Again *revokedBy `json:"revoked_before,omitempty"`
}

type revokedBy struct {
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

func newRevokeDocument(r engine.Revocation, readers bool) revokeDocument {
	d := revokeDocument{Schema: ui.SchemaVersion, Resource: r.Resource, Readers: readers, Marked: r.Marked, Nodes: r.Nodes}
	if r.FreeIn <= maxFree {
		d.FreeIn = report.Seconds(r.FreeIn)
	}
	for _, h := range r.Holders {
		one := revokedHolder{Name: h.Holder.Instance, Since: h.Holder.Since, Fence: h.Fence, Done: h.Holder.Done}
		if h.Again {
			one.Again = &revokedBy{h.Mark.By, h.Mark.Since, h.Mark.Reason}
		}
		d.Holders = append(d.Holders, one)
	}
	return d
}

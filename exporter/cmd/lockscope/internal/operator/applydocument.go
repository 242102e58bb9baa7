package operator

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/repair"
)

// applyDocument is the result of repair apply: see the topic json.
type applyDocument struct {
	Schema  int       `json:"schema"`
	Plan    string    `json:"plan"`
	Created time.Time `json:"created"`
	DryRun  bool      `json:"dry_run"`

	Done    int `json:"done"`
	WouldDo int `json:"would_do"`
	Gone    int `json:"gone"`
	Changed int `json:"changed"`
	Refused int `json:"refused"`
	Failed  int `json:"failed"` // or not tried

	Steps []appliedStep `json:"steps"`
}

type appliedStep struct {
	Backend   string        `json:"backend,omitempty"`
	Node      string        `json:"node"`
	Place     string        `json:"place,omitempty"`
	Key       string        `json:"key"`
	KeyBase64 string        `json:"key_base64"`
	Class     inspect.Class `json:"class"`
	Action    string        `json:"action"`
	Outcome   string        `json:"outcome"`
	Error     string        `json:"error,omitempty"`
}

func newApplyDocument(p repair.Plan, dry bool) *applyDocument {
	d := &applyDocument{Schema: ui.SchemaVersion, Plan: p.ID, Created: p.Created, DryRun: dry, Failed: len(p.Steps),
		Steps: make([]appliedStep, 0, len(p.Steps))}
	for _, s := range p.Steps {
		d.Steps = append(d.Steps, appliedStep{Backend: s.Backend, Node: s.Node, Place: s.Place, Key: s.Key,
			KeyBase64: s.KeyBase64, Class: s.Class, Action: s.Action, Outcome: "not_tried"})
	}
	return d
}

// Add counts what became of a step.
func (d *applyDocument) Add(i int, r repair.Result, err error) {
	s := &d.Steps[i]
	switch {
	case Refused(err):
		s.Outcome, s.Error = "refused", errors.Unwrap(err).Error()
	case err != nil:
		s.Outcome, s.Error = "failed", err.Error()
	default:
		s.Outcome = string(r.Outcome)
	}
	if count := map[string]*int{"done": &d.Done, "would_do": &d.WouldDo, "gone": &d.Gone, "changed": &d.Changed,
		"refused": &d.Refused}[s.Outcome]; count != nil {
		*count++
		d.Failed--
	}
}

// write prints the numbers for people, or everything.
func (d *applyDocument) write(a *ui.App, format ui.Format) error {
	if format == ui.JSON {
		return ui.WriteJSON(a.Out, d)
	}
	_, err := fmt.Fprintf(a.Out, "plan %s of %s: of %d keys %d done, %d would be, %d gone, %d changed, %d refused, %d "+
		"failed or not tried\n",
		d.Plan, d.Created.Format(time.RFC3339), len(d.Steps), d.Done, d.WouldDo, d.Gone, d.Changed, d.Refused, d.Failed)
	return err
}

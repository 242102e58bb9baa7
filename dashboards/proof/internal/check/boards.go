// Package check runs all queries of dashboards and rules on a live Prometheus, and judges the answers.
package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Board is a dashboard with its queries.
type Board struct {
	UID       string
	Span      time.Duration // the time shown: from now-Span to now
	Panels    []Panel
	Variables []Variable
	Marks     []string // expressions of annotations
}

// Panel is a panel other than the title of a row.
type Panel struct {
	Title   string
	Queries []Query
	Either  bool // a tile, of whose queries one has a value at a time
}

// Query is one expression of a panel.
type Query struct {
	Ref      string
	Title    string // of the panel, or of the column
	Expr     string // with Grafana's variables in it
	Unit     string // of its values
	Instant  bool
	Exemplar bool
}

// Variable is a template variable that asks Prometheus for its values.
type Variable struct {
	Name, Selector, Label string
	All                   string // the value that selects all; empty: one must be chosen
}

// document is a dashboard in Grafana's classic model.
type document struct {
	UID  string `json:"uid"`
	Time struct {
		From, To string
	} `json:"time"`
	Panels     []panelDocument `json:"panels"`
	Templating struct {
		List []struct {
			Type, Name, AllValue string
			Query                json.RawMessage
		} `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []struct{ Expr string } `json:"list"`
	} `json:"annotations"`
}

type panelDocument struct {
	Type, Title string
	Datasource  struct{ Type string }
	Targets     []struct {
		RefID             string `json:"refId"`
		Expr              string
		Instant, Exemplar bool
	}
	FieldConfig struct {
		Defaults  struct{ Unit string }
		Overrides []struct {
			Matcher    struct{ Options any }
			Properties []struct {
				ID    string
				Value any
			}
		}
	} `json:"fieldConfig"`
	Panels []panelDocument // below a folded row
}

var errNoBoards = errors.New("there are no dashboards")

// Load reads the folder grafana.
func Load(files fs.FS) ([]Board, error) {
	names, err := fs.Glob(files, "grafana/*.json")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(errNoBoards, err)
	}
	var boards []Board
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		board, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		boards = append(boards, board)
	}
	return boards, nil
}

func parse(text []byte) (b Board, err error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return b, err
	}
	b.UID = d.UID
	ago, found := strings.CutPrefix(d.Time.From, "now-")
	span, err := model.ParseDuration(ago)
	if err != nil || !found || d.Time.To != "now" {
		return b, fmt.Errorf("the time %s to %s is not from now-... to now", d.Time.From, d.Time.To)
	}
	b.Span = time.Duration(span)
	b.addPanels(d.Panels)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parsed, err := parseVariable(v.Name, v.AllValue, v.Query)
		if err != nil {
			return b, err
		}
		b.Variables = append(b.Variables, parsed)
	}
	for _, a := range d.Annotations.List {
		b.Marks = append(b.Marks, a.Expr)
	}
	return b, nil
}

func (b *Board) addPanels(all []panelDocument) {
	for _, p := range all {
		b.addPanels(p.Panels)
		if p.Type == "row" || p.elsewhere() {
			continue
		}
		panel := Panel{Title: p.Title, Either: p.Type == "stat" && len(p.Targets) > 1}
		for i, t := range p.Targets {
			panel.Queries = append(panel.Queries, Query{
				Ref: t.RefID, Title: p.title(i), Expr: t.Expr, Unit: p.unit(i), Instant: t.Instant,
				Exemplar: t.Exemplar})
		}
		b.Panels = append(b.Panels, panel)
	}
}

// elsewhere reports whether a panel does not query Prometheus, such as a text or a list of alerts, which queries
// Grafana.
func (p panelDocument) elsewhere() bool {
	return p.Type == "alertlist" || p.Type == "text" || p.Datasource.Type == "loki" || p.Datasource.Type == "tempo"
}

// title returns the title of the i-th query: in a table, the title of its column.
func (p panelDocument) title(i int) string {
	if p.Type == "table" && i < len(p.FieldConfig.Overrides) {
		if column, ok := p.FieldConfig.Overrides[i].Matcher.Options.(string); ok {
			return column
		}
	}
	return p.Title
}

// unit returns the unit of the i-th query. A table has one for each column. The values of a heatmap are observations a
// second, in any unit.
func (p panelDocument) unit(i int) string {
	if p.Type == "heatmap" {
		return unitRate
	}
	if p.Type == "table" && i < len(p.FieldConfig.Overrides) {
		for _, set := range p.FieldConfig.Overrides[i].Properties {
			if unit, ok := set.Value.(string); ok && set.ID == "unit" {
				return unit
			}
		}
	}
	return p.FieldConfig.Defaults.Unit
}

// parseVariable splits label_values(selector, label).
func parseVariable(name, all string, query json.RawMessage) (Variable, error) {
	var q struct{ Query string }
	if json.Unmarshal(query, &q) != nil {
		_ = json.Unmarshal(query, &q.Query) // an error leaves it empty, which fails below
	}
	inner, opened := strings.CutPrefix(q.Query, "label_values(")
	inner, closed := strings.CutSuffix(inner, ")")
	comma := strings.LastIndex(inner, ",")
	if !opened || !closed || comma < 0 {
		return Variable{}, fmt.Errorf("variable %s: %q is not label_values(selector, label)", name, q.Query)
	}
	return Variable{Name: name, Selector: inner[:comma], Label: strings.TrimSpace(inner[comma+1:]), All: all}, nil
}

// Queries is the number of queries in all panels.
func (b Board) Queries() int {
	n := 0
	for _, p := range b.Panels {
		n += len(p.Queries)
	}
	return n
}

// Package grafana reads dashboards as far as their checks and proofs need.
package grafana

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Dashboard is a dashboard in Grafana's classic model.
type Dashboard struct {
	UID           string   `json:"uid"`
	Title         string   `json:"title"`
	Tags          []string `json:"tags"`
	SchemaVersion int      `json:"schemaVersion"`
	Editable      *bool    `json:"editable"`
	Panels        []Panel  `json:"panels"`
	Templating    struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []Annotation `json:"list"`
	} `json:"annotations"`
	Links []struct {
		Tags []string `json:"tags"`
	} `json:"links"`
}

// Panel is a panel, or a row.
type Panel struct {
	ID          int       `json:"id"`
	Type        string    `json:"type"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Datasource  SourceRef `json:"datasource"`
	Targets     []Target  `json:"targets"`
	Collapsed   bool      `json:"collapsed"` // a row that is folded,
	Panels      []Panel   `json:"panels"`    // which has those below it
	GridPos     struct {
		H, W, X, Y int
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults  Defaults   `json:"defaults"`
		Overrides []Override `json:"overrides"`
	} `json:"fieldConfig"`
}

// Defaults are settings of all fields of a panel.
type Defaults struct {
	Unit       string            `json:"unit"`
	NoValue    string            `json:"noValue"`
	Mappings   []json.RawMessage `json:"mappings"`
	Links      []struct{ URL string }
	Thresholds struct {
		Steps []struct {
			Value *float64
			Color string
		}
	}
}

// Override changes settings of some fields.
type Override struct {
	Properties []struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	} `json:"properties"`
}

// SourceRef names a data source.
type SourceRef struct{ Type, UID string }

// Target is a query of a panel.
type Target struct {
	RefID      string    `json:"refId"`
	Expr       string    `json:"expr"`
	Legend     string    `json:"legendFormat"`
	Format     string    `json:"format"`
	Instant    bool      `json:"instant"`
	Exemplar   bool      `json:"exemplar"`
	Datasource SourceRef `json:"datasource"`
}

// Variable is a template variable.
type Variable struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Label      string          `json:"label"`
	Query      json.RawMessage `json:"query"`
	Datasource SourceRef       `json:"datasource"`
	Multi      bool            `json:"multi"`
	IncludeAll bool            `json:"includeAll"`
	AllValue   string          `json:"allValue"`
	Refresh    int             `json:"refresh"`
	Hide       int             `json:"hide"` // 2: the reader does not see it
}

// Annotation marks times in all charts.
type Annotation struct {
	Name       string    `json:"name"`
	Expr       string    `json:"expr"`
	Title      string    `json:"titleFormat"`
	Text       string    `json:"textFormat"`
	Datasource SourceRef `json:"datasource"`
}

// Parse reads a dashboard.
func Parse(text []byte) (Dashboard, error) {
	var d Dashboard
	err := json.Unmarshal(text, &d)
	return d, err
}

// Links are the URLs that a panel's values lead to, those of single columns included.
func (p Panel) Links() (urls []string) {
	for _, l := range p.FieldConfig.Defaults.Links {
		urls = append(urls, l.URL)
	}
	for _, o := range p.FieldConfig.Overrides {
		for _, set := range o.Properties {
			all, _ := set.Value.([]any)
			for _, one := range all {
				if link, ok := one.(map[string]any); ok && set.ID == "links" {
					url, _ := link["url"].(string)
					urls = append(urls, url)
				}
			}
		}
	}
	return urls
}

// All lists the panels, those in folded rows included.
func (d Dashboard) All() (all []Panel) {
	for _, p := range d.Panels {
		all = append(append(all, p), p.Panels...)
	}
	return all
}

// AsksPrometheus reports that a panel shows what a Prometheus answers. Rows, texts, lists of
// alerts, logs and traces do not.
func (p Panel) AsksPrometheus() bool {
	return !p.IsRow() && p.Type != "text" && p.Type != "alertlist" && p.Datasource.Type != "loki" &&
		p.Datasource.Type != "tempo"
}

// IsRow reports that a panel is only the title of those below it.
func (p Panel) IsRow() bool { return p.Type == "row" }

// Text is the query of a variable, whichever way it is stored.
func (v Variable) Text() string {
	var text string
	if json.Unmarshal(v.Query, &text) == nil {
		return text
	}
	var object struct{ Query string }
	_ = json.Unmarshal(v.Query, &object) // something else has no text
	return object.Query
}

// LabelValues splits label_values(selector, label).
func (v Variable) LabelValues() (selector, label string, err error) {
	inner, found := strings.CutPrefix(v.Text(), "label_values(")
	inner, closed := strings.CutSuffix(inner, ")")
	i := strings.LastIndex(inner, ",")
	if !found || !closed || i < 0 {
		return "", "", fmt.Errorf("variable %s: %q is not label_values(metric, label)", v.Name, v.Text())
	}
	return strings.TrimSpace(inner[:i]), strings.TrimSpace(inner[i+1:]), nil
}

// Query is one expression of a dashboard, with where it is and how it is shown.
type Query struct {
	Dashboard string `json:"dashboard"`
	Panel     string `json:"panel"`
	PanelID   int    `json:"panel_id"`
	Type      string `json:"type"`
	Ref       string `json:"ref"`
	Unit      string `json:"unit"`
	Instant   bool   `json:"instant"`
	Expr      string `json:"expr"` // with Grafana's variables in it
}

// Queries lists every expression of a dashboard.
func (d Dashboard) Queries() []Query {
	var all []Query
	for _, p := range d.All() {
		if !p.AsksPrometheus() {
			continue
		}
		for i, t := range p.Targets {
			all = append(all, Query{Dashboard: d.UID, Panel: p.Title, PanelID: p.ID, Type: p.Type, Ref: t.RefID,
				Unit: p.unitOf(i), Instant: t.Instant, Expr: t.Expr})
		}
	}
	return all
}

// unitOf is the unit of a panel's i-th target: tables have one for each column.
func (p Panel) unitOf(i int) string {
	if p.Type == "table" && i < len(p.FieldConfig.Overrides) {
		for _, set := range p.FieldConfig.Overrides[i].Properties {
			if unit, ok := set.Value.(string); ok && set.ID == "unit" {
				return unit
			}
		}
	}
	return p.FieldConfig.Defaults.Unit
}

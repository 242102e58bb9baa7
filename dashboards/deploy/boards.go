package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// board applies the settings to a Grafana dashboard. If only the address of the runbooks differs, the rest
// of the text stays byte for byte.
func (s Settings) board(text []byte) ([]byte, error) {
	var err error
	if s.concernsBoards() {
		if text, err = s.rewritten(text); err != nil {
			return nil, err
		}
	}
	if s.RunbookURL == "" {
		return text, nil
	}
	folder, err := json.Marshal(strings.TrimSuffix(s.RunbookURL, "/") + "/")
	return bytes.ReplaceAll(text, []byte(ShippedRunbooks+"/"), bytes.Trim(folder, `"`)), err
}

func (s Settings) rewritten(text []byte) ([]byte, error) {
	var b object
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&b); err != nil {
		return nil, err
	}
	templating, _ := b["templating"].(object)
	list, _ := templating["list"].([]any)
	if list != nil {
		templating["list"] = s.variables(list)
	}
	if err := s.walk(b); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(b)
	return out.Bytes(), err
}

// walk changes the expressions, links and objectives below v.
func (s Settings) walk(v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := s.walk(item); err != nil {
				return err
			}
		}
	case object:
		s.limits(v)
		for key, item := range v {
			text, ok := item.(string)
			if ok && key == "expr" && elsewhere(v) {
				continue
			}
			if !ok {
				if err := s.walk(item); err != nil {
					return err
				}
				continue
			}
			changed, err := s.text(key, text)
			if err != nil {
				return fmt.Errorf("%s: %w", v["title"], err)
			}
			v[key] = changed
		}
	}
	return nil
}

// elsewhere reports whether a query is for logs or traces, which have their own languages.
func elsewhere(query object) bool {
	kind := asObject(query["datasource"])["type"]
	return kind == "loki" || kind == "tempo"
}

// text changes one string, according to its field.
func (s Settings) text(key, text string) (string, error) {
	switch key {
	case "expr":
		return s.query(text)
	case "query", "definition":
		m := labelValues.FindStringSubmatch(text)
		if m == nil {
			return text, nil
		}
		selector, err := s.query(m[1])
		return "label_values(" + selector + ", " + m[2] + ")", err
	case "description":
		return s.promises(text), nil
	case "legendFormat", "textFormat":
		return s.each(text, "{{"+ClusterLabel+"}}", " "), nil
	case "url":
		if s.Labels == nil {
			return text, nil
		}
		const job, own = "${job:queryparam}", "${" + ClusterLabel + ":queryparam}&"
		if !strings.Contains(text, own) {
			text = strings.ReplaceAll(text, job, own+job)
		}
		return s.each(text, own, ""), nil
	}
	return text, nil
}

// each repeats a part of a text that names the cluster, once for every label.
func (s Settings) each(text, part, between string) string {
	if s.Labels == nil {
		return text
	}
	var all []string
	for _, l := range s.Labels {
		all = append(all, strings.ReplaceAll(part, ClusterLabel, l))
	}
	return strings.ReplaceAll(text, part, strings.Join(all, between))
}

// query changes an expression that contains Grafana's variables.
func (s Settings) query(text string) (string, error) {
	plain, restore := standIns(text)
	tree, err := parse(plain)
	if err != nil {
		return "", fmt.Errorf("%s: %w", text, err)
	}
	if err := s.rewrite(tree); err != nil {
		return "", err
	}
	shipped, promised := ShippedObjectives(), s.Objectives.orShipped()
	replace(tree, parser.SUB, shipped.Availability, promised.Availability)
	replace(tree, parser.SUB, shipped.Wait, promised.Wait)
	if s.Labels != nil {
		parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
			if v, ok := node.(*parser.VectorSelector); ok {
				v.LabelMatchers = s.chosen(v.LabelMatchers)
			}
			return nil
		})
	}
	return restore(tree.String()), nil
}

// chosen returns matchers for the labels that the reader of a board has chosen, besides the job. A series
// may lack such a label.
func (s Settings) chosen(all []*labels.Matcher) []*labels.Matcher {
	variable := func(m *labels.Matcher, name string) bool { return m.Name == name && strings.HasPrefix(m.Value, "$") }
	at := slices.IndexFunc(all, func(m *labels.Matcher) bool { return variable(m, ClusterLabel) })
	if at >= 0 {
		all = slices.Delete(slices.Clone(all), at, at+1)
	} else if at = slices.IndexFunc(all, func(m *labels.Matcher) bool { return variable(m, "job") }); at < 0 {
		return all
	}
	var own []*labels.Matcher
	for _, l := range s.Labels {
		own = append(own, labels.MustNewMatcher(labels.MatchRegexp, l, "$"+l))
	}
	return slices.Insert(slices.Clone(all), at, own...)
}

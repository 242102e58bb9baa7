package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// object is one of JSON. What a board has beside the fields named here is left as it is.
type object = map[string]any

// board fills in a dashboard of Grafana.
func (s Settings) board(text []byte) ([]byte, error) {
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

// walk changes the expressions, links and objectives below a value.
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

// elsewhere reports that a query asks for logs or traces, in a language of their own.
func elsewhere(query object) bool {
	kind := asObject(query["datasource"])["type"]
	return kind == "loki" || kind == "tempo"
}

var labelValues = regexp.MustCompile(`^label_values\((.+), *(\w+)\)$`)

// text changes one string, by the field it is in.
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
		return s.each(text, "{{"+clusterLabel+"}}", " "), nil
	case "url":
		if s.Labels == nil {
			return text, nil
		}
		const job, own = "${job:queryparam}", "${" + clusterLabel + ":queryparam}&"
		if !strings.Contains(text, own) {
			text = strings.ReplaceAll(text, job, own+job)
		}
		return s.each(text, own, ""), nil
	}
	return text, nil
}

// each repeats a part of a text that names the cluster, for every label.
func (s Settings) each(text, part, between string) string {
	if s.Labels == nil {
		return text
	}
	var all []string
	for _, l := range s.Labels {
		all = append(all, strings.ReplaceAll(part, clusterLabel, l))
	}
	return strings.ReplaceAll(text, part, strings.Join(all, between))
}

// query changes an expression with Grafana's variables in it.
func (s Settings) query(text string) (string, error) {
	plain, restore := standIns(text)
	tree, err := parse(plain)
	if err != nil {
		return "", fmt.Errorf("%s: %w", text, err)
	}
	if err := s.rewrite(tree); err != nil {
		return "", err
	}
	numbers := s.Objectives.numbers()
	replace(tree, parser.SUB, shipped.Availability, numbers[0])
	replace(tree, parser.SUB, shipped.Wait, numbers[1])
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

// chosen matches the labels that the reader of a board has chosen, beside the job. A series need not
// have such a label.
func (s Settings) chosen(all []*labels.Matcher) []*labels.Matcher {
	variable := func(m *labels.Matcher, name string) bool { return m.Name == name && strings.HasPrefix(m.Value, "$") }
	at := slices.IndexFunc(all, func(m *labels.Matcher) bool { return variable(m, clusterLabel) })
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

// variables puts one for each label in the place of that for the cluster, or before that for the job.
func (s Settings) variables(list []any) []any {
	named := func(name string) func(any) bool {
		return func(v any) bool { o, ok := v.(object); return ok && o["name"] == name }
	}
	job := slices.IndexFunc(list, named("job"))
	if s.Labels == nil || job < 0 {
		return list
	}
	pattern, at := list[job].(object), job
	if cluster := slices.IndexFunc(list, named(clusterLabel)); cluster >= 0 {
		pattern, at = list[cluster].(object), cluster
		list = slices.Delete(slices.Clone(list), at, at+1)
	} else {
		s.chain(pattern)
	}
	var own []any
	for _, l := range s.Labels {
		own = append(own, variable(pattern, l))
	}
	return slices.Insert(slices.Clone(list), at, own...)
}

// variable copies one that lists values of a label, for another label. It depends on no other choice.
func variable(pattern object, label string) object {
	v := object{}
	for key, item := range pattern {
		v[key] = item
	}
	v["name"], v["label"], v["allValue"] = label, strings.ToUpper(label[:1])+label[1:], ".*"
	v["description"] = "Values of the label " + label + "."
	query := "label_values(up, " + label + ")"
	if old, ok := pattern["definition"].(string); ok {
		if m := labelValues.FindStringSubmatch(old); m != nil {
			query = "label_values(" + free(m[1]) + ", " + label + ")"
		}
	}
	v["definition"], v["query"] = query, object{"query": query, "refId": "variable-" + label, "qryType": json.Number("1")}
	return v
}

// free removes matchers of variables from a selector.
func free(selector string) string {
	tree, err := parse(selector)
	if v, ok := tree.(*parser.VectorSelector); err == nil && ok {
		v.LabelMatchers = slices.DeleteFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return strings.HasPrefix(m.Value, "$") })
		return v.String()
	}
	return selector
}

// chain makes the jobs depend on the labels that were chosen, by way of a matcher that is replaced.
func (s Settings) chain(job object) {
	for _, holder := range []object{job, asObject(job["query"])} {
		for _, key := range []string{"definition", "query"} {
			text, _ := holder[key].(string)
			m := labelValues.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			tree, err := parse(m[1])
			if v, ok := tree.(*parser.VectorSelector); err == nil && ok {
				v.LabelMatchers = append([]*labels.Matcher{labels.MustNewMatcher(labels.MatchRegexp, clusterLabel, "$"+clusterLabel)}, v.LabelMatchers...)
				holder[key] = "label_values(" + v.String() + ", " + m[2] + ")"
			}
		}
	}
}

func asObject(v any) object { o, _ := v.(object); return o }

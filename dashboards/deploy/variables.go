package deploy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// object is a JSON object. Fields of a board that are not named here stay unchanged.
type object = map[string]any

func asObject(v any) object { o, _ := v.(object); return o }

var labelValues = regexp.MustCompile(`^label_values\((.+), *(\w+)\)$`)

// variables replaces the variable for the cluster with one per label. Without it, they go before the job.
func (s Settings) variables(list []any) []any {
	named := func(name string) func(any) bool {
		return func(v any) bool { o, ok := v.(object); return ok && o["name"] == name }
	}
	job := slices.IndexFunc(list, named("job"))
	if s.Labels == nil || job < 0 {
		return list
	}
	pattern, at := list[job].(object), job
	if cluster := slices.IndexFunc(list, named(ClusterLabel)); cluster >= 0 {
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

// variable copies a variable for another label. The copy does not depend on other variables.
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
	v["definition"], v["query"] = query,
		object{"query": query, "refId": "variable-" + label, "qryType": json.Number("1")}
	return v
}

// free removes the matchers with variables from a selector.
func free(selector string) string {
	tree, err := parse(selector)
	if v, ok := tree.(*parser.VectorSelector); err == nil && ok {
		chosen := func(m *labels.Matcher) bool { return strings.HasPrefix(m.Value, "$") }
		v.LabelMatchers = slices.DeleteFunc(v.LabelMatchers, chosen)
		return v.String()
	}
	return selector
}

// chain makes the list of jobs depend on the chosen labels. It adds a matcher that rewrite replaces.
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
				own := labels.MustNewMatcher(labels.MatchRegexp, ClusterLabel, "$"+ClusterLabel)
				v.LabelMatchers = append([]*labels.Matcher{own}, v.LabelMatchers...)
				holder[key] = "label_values(" + v.String() + ", " + m[2] + ")"
			}
		}
	}
}

package deploy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object. Fields of a board that are not named here stay unchanged.
type object = map[string]any

func asObject(v any) object { o, _ := v.(object); return o }

var labelValues = regexp.MustCompile(`^label_values\((.+), *(\w+)\)$`)

// variables replaces the variable for the cluster with one per label.
func (s Settings) variables(list []any) []any {
	at := slices.IndexFunc(list, func(v any) bool { return asObject(v)["name"] == ClusterLabel })
	if s.Labels == nil || at < 0 {
		return list
	}
	var own []any
	for _, l := range s.Labels {
		own = append(own, variable(asObject(list[at]), l))
	}
	return slices.Replace(slices.Clone(list), at, at+1, own...)
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
			query = "label_values(" + m[1] + ", " + label + ")"
		}
	}
	v["definition"], v["query"] = query,
		object{"query": query, "refId": "variable-" + label, "qryType": json.Number("1")}
	return v
}

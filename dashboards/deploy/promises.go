package deploy

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	percentage = regexp.MustCompile(`\b(99\.9|99) %`)
	limit      = regexp.MustCompile(`(^|[^0-9.])0\.5 s\b`)
)

// promises changes objectives in words.
func (s Settings) promises(text string) string {
	numbers := s.Objectives.numbers()
	text = percentage.ReplaceAllStringFunc(text, func(share string) string {
		if share == percent(shipped.Availability)+" %" {
			return percent(numbers[0]) + " %"
		}
		return percent(numbers[1]) + " %"
	})
	return limit.ReplaceAllString(text, "${1}"+number(numbers[2])+" s")
}

// limits changes objectives that are steps of colors: shares, and what is twice as bad, wherever they
// are; the limit of waits in charts of waits.
func (s Settings) limits(panel object) {
	numbers := s.Objectives.numbers()
	twice := func(target float64) float64 { return 1 - 2*(1-target) }
	to := map[json.Number]float64{"0.999": numbers[0], "0.998": twice(numbers[0]), "0.99": numbers[1], "0.98": twice(numbers[1])}
	if panel["type"] == "timeseries" && aboutWaits(panel) {
		to["0.5"] = numbers[2]
	}
	if panel["targets"] != nil {
		steps(panel["fieldConfig"], to)
	}
}

func aboutWaits(panel object) bool {
	targets, _ := panel["targets"].([]any)
	for _, t := range targets {
		if expr, _ := asObject(t)["expr"].(string); strings.Contains(expr, "distributed_lock_wait_seconds") && asObject(asObject(panel["fieldConfig"])["defaults"])["unit"] == "s" {
			return true
		}
	}
	return false
}

// steps changes the values of all steps below.
func steps(v any, to map[json.Number]float64) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			steps(item, to)
		}
	case object:
		list, _ := v["steps"].([]any)
		for _, step := range list {
			if n, ok := asObject(step)["value"].(json.Number); ok {
				if changed, ok := to[n]; ok {
					asObject(step)["value"] = changed
				}
			}
		}
		for _, item := range v {
			steps(item, to)
		}
	}
}

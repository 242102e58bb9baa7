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

// promises changes the objectives in a text.
func (s Settings) promises(text string) string {
	shipped, promised := ShippedObjectives(), s.Objectives.orShipped()
	text = percentage.ReplaceAllStringFunc(text, func(share string) string {
		if share == percent(shipped.Availability)+" %" {
			return percent(promised.Availability) + " %"
		}
		return percent(promised.Wait) + " %"
	})
	return limit.ReplaceAllString(text, "${1}"+number(promised.Within)+" s")
}

// limits changes objectives that are color thresholds: shares and their doubled budgets everywhere, and the
// limit of waits in charts of waits.
func (s Settings) limits(panel object) {
	promised := s.Objectives.orShipped()
	twice := func(target float64) float64 { return 1 - 2*(1-target) }
	to := map[json.Number]float64{
		"0.999": promised.Availability, "0.998": twice(promised.Availability),
		"0.99": promised.Wait, "0.98": twice(promised.Wait),
	}
	if panel["type"] == "timeseries" && aboutWaits(panel) {
		to["0.5"] = promised.Within
	}
	if panel["targets"] != nil {
		steps(panel["fieldConfig"], to)
	}
}

func aboutWaits(panel object) bool {
	targets, _ := panel["targets"].([]any)
	for _, t := range targets {
		if expr, _ := asObject(t)["expr"].(string); strings.Contains(expr, "distributed_lock_wait_seconds") {
			return asObject(asObject(panel["fieldConfig"])["defaults"])["unit"] == "s"
		}
	}
	return false
}

// steps changes the values of all steps below v.
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

package promql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// bounds are the finite bounds of the histograms that may also be native ones.
var bounds = map[string][]float64{
	"distributed_lock_wait_seconds":          {.001, .005, .01, .05, .1, .5, 1, 5},
	"distributed_lock_hold_seconds":          {.01, .05, .1, .5, 1, 5, 10, 30, 60, 300},
	"distributed_lock_validity_seconds":      {.01, .05, .1, .5, 1, 5, 10, 30, 60},
	"distributed_lock_node_duration_seconds": {.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
	margin:                                   {0, 1, 2, 3, 4},
}

// margin counts whole votes.
const margin = "distributed_lock_vote_margin"

// classic matches what reads a classic histogram: a quantile of its buckets, or the rate of one of its series.
var classic = func() *regexp.Regexp {
	const (
		names = `distributed_lock_(?:wait_seconds|hold_seconds|validity_seconds|node_duration_seconds|vote_margin)`
		tail  = `(\{[^{}]*\})?\[([^\]]+)\]\)`
	)
	return regexp.MustCompile(`histogram_quantile\(([^,]+), sum by \(([^()]*)\) \((rate|increase)\((` + names + `)_bucket` +
		tail + `\)\)|\b(rate|increase)\((` + names + `)_(count|sum|bucket)` + tail)
}()

// bound matches the matcher of one bucket, in either spelling of a whole number.
var bound = regexp.MustCompile(`, ?le=~?"([0-9.]+?)(?:\(\[\.\]0\)\?)?"|le=~?"([0-9.]+?)(?:\(\[\.\]0\)\?)?",? ?`)

// Forms lets an expression about classic histograms read native ones as well. A process has one of them, or both: then
// its classic one counts. Processes of both kinds add up, and of their quantiles the larger one counts.
func Forms(expr string) string {
	expr = strings.Join(strings.Fields(expr), " ")
	return classic.ReplaceAllStringFunc(expr, func(text string) string {
		m := classic.FindStringSubmatch(text)
		if m[1] != "" {
			return quantiles(text, m[1], m[2], m[3]+"("+m[4]+m[5]+"["+m[6]+"])")
		}
		name, part, selector := m[8], m[9], m[10]
		le := bound.FindStringSubmatch(selector)
		if part == "bucket" && le != nil {
			selector = strings.Replace(selector, le[0], "", 1)
		}
		native := m[7] + "(" + strings.TrimSuffix(name+selector, "{}") + "[" + m[11] + "])"
		switch {
		case part != "bucket":
			return fmt.Sprintf("(%s or histogram_%s(%s))", text, part, native)
		case le != nil:
			return fmt.Sprintf(`(label_replace(%s, "le", "", "le", ".*") or %s)`, text, upTo(name, le[1]+le[2], native))
		default:
			return "(" + text + " or " + Buckets(name, native) + ")"
		}
	})
}

func quantiles(text, quantile, by, native string) string {
	labels := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(by, "le"), ", "))
	if labels != "" {
		labels = " by (" + labels + ")"
	}
	return fmt.Sprintf(`max%[1]s (label_replace(%[2]s, "form", "classic", "", "") or histogram_quantile(%[3]s, sum%[1]s (%[4]s)))`,
		labels, text, quantile, native)
}

// Buckets turns a native histogram into what its classic one would count.
func Buckets(name, native string) string {
	var all []string
	for _, le := range bounds[name] {
		text := strconv.FormatFloat(le, 'f', -1, 64)
		all = append(all, labeled(upTo(name, text, native), Spelled(text)))
	}
	return strings.Join(append(all, labeled("histogram_count("+native+")", "+Inf")), " or ")
}

func labeled(expr, le string) string {
	return fmt.Sprintf(`label_replace(%s, "le", %q, "", "")`, expr, le)
}

// Spelled writes a bound as Prometheus does where it stores native histograms.
func Spelled(le string) string {
	if strings.Contains(le, ".") {
		return le
	}
	return le + ".0"
}

// upTo counts what is not above a bound. Whole numbers are split halfway between two of them: no native bucket ends at a whole number.
func upTo(name, le, native string) string {
	if name == margin {
		le += ".5"
	}
	return fmt.Sprintf("histogram_fraction(-1, %s, %[2]s) * (histogram_count(%[2]s) > 0)", le, native)
}

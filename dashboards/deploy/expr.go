package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// listed matches a list of labels that has the cluster, in by, on, ignoring and the like.
	listed = regexp.MustCompile(`\(` + ClusterLabel + `((?:, \w+)*)\)`)
	// word matches a text, which is left alone, or a name with the bracket that opens its matchers.
	word = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[a-zA-Z_:][\w:]*\{?`)
	// scraped matches the metrics that no rule records.
	scraped = regexp.MustCompile(`^(up|process_\w+|distributed_lock_\w+)\{?$`)
	// nameless matches what selects scraped metrics by a pattern of their names.
	nameless = regexp.MustCompile(`\{([^{}]*__name__=~"[^":]*")`)
)

// chosen is the matcher by which boards select what the reader chose.
const chosen = ClusterLabel + `=~"$` + ClusterLabel + `"`

// gaps closes what no label leaves between matchers.
var gaps = strings.NewReplacer(", }", "}", ",}", "}", "{, ", "{", "{,", "{", ", ,", ",", ",,", ",")

// expr applies the settings to an expression of a rule or a board. The generator writes the cluster, the limit of good
// waits and the objectives in one way only, which its tests check with the parser of Prometheus.
func (s Settings) expr(text string) string {
	if s.Labels != nil {
		text = listed.ReplaceAllStringFunc(text, func(list string) string {
			return "(" + strings.Join(s.apart(strings.Split(strings.Trim(list, "()"), ", ")), ", ") + ")"
		})
		text = gaps.Replace(s.each(text, chosen, ","))
	}
	if s.Selector != "" {
		escaped := strings.ReplaceAll(s.Selector, "$", "$$")
		text = nameless.ReplaceAllString(word.ReplaceAllStringFunc(text, s.selected), "{"+escaped+",$1")
	}
	return s.promised(text)
}

// selected adds the selector to the name of a scraped metric.
func (s Settings) selected(name string) string {
	switch bare, open := strings.CutSuffix(name, "{"); {
	case !scraped.MatchString(name):
		return name
	case open:
		return bare + "{" + s.Selector + ","
	}
	return name + "{" + s.Selector + "}"
}

// apart replaces cluster with the labels in a list.
func (s Settings) apart(list []string) []string {
	i := slices.Index(list, ClusterLabel)
	if s.Labels == nil || i < 0 {
		return list
	}
	there := func(l string) bool { return l != ClusterLabel && slices.Contains(list, l) }
	own := slices.DeleteFunc(slices.Clone(s.Labels), there)
	return slices.Replace(slices.Clone(list), i, i+1, own...)
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

// promised changes the objectives in an expression: what is left of a budget, and the limit of good waits in classic
// and native histograms.
func (s Settings) promised(text string) string {
	shipped, promised := ShippedObjectives(), s.Objectives.orShipped()
	pairs := []string{}
	for _, p := range [][2]float64{{shipped.Availability, promised.Availability}, {shipped.Wait, promised.Wait}} {
		pairs = append(pairs, "(1 - "+number(p[0])+")", "(1 - "+number(p[1])+")")
	}
	if promised.Within != shipped.Within && strings.Contains(text, Bound(shipped.Within)) {
		pairs = append(pairs, Bound(shipped.Within), Bound(promised.Within),
			fraction(shipped.Within), fraction(promised.Within))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// fraction is the start of what counts the good waits of a native histogram.
func fraction(le float64) string { return "histogram_fraction(-1, " + number(le) + "," }

// Bound returns a matcher for the bucket with this bound. Prometheus 2 stores the bound 1 as "1" or "1.0",
// depending on the scrape format; Prometheus 3 stores "1.0".
func Bound(le float64) string {
	text := strconv.FormatFloat(le, 'f', -1, 64)
	if strings.Contains(text, ".") {
		return fmt.Sprintf("le=%q", text)
	}
	return fmt.Sprintf("le=~%q", text+"([.]0)?")
}

package deploy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// objectivesGroup is the group with the objectives of single resources.
const objectivesGroup = "distributed-lock-objectives"

var (
	// exprField matches an expression up to the next field of a rule, as the generator writes them.
	exprField = regexp.MustCompile(`(?ms)^( *)expr: (.*?)\n( *(?:for|keep_firing_for|labels|annotations|- \w+):|\z)`)
	// exporterDown matches the expression of the alert about a missing exporter.
	exporterDown = regexp.MustCompile(`(- alert: DistributedLockExporterDown\n( *)expr: )(.*)`)
	// burning matches the threshold of a burn rate: a factor, and the budget.
	burning = regexp.MustCompile(`(> [0-9.]+ \* )(0\.\d+)\b`)
	// listField matches a list of labels of Alertmanager.
	listField = regexp.MustCompile(`(?m)^( *(?:equal|group_by):\n( *- ))(\w+(?:\n *- \w+)*)\n`)
)

// rules applies the settings to a file of rules or a PrometheusRule.
func (s Settings) rules(name, text string) string {
	if s.ExporterJob != "" {
		text = exporterDown.ReplaceAllString(text, "$1|-\n$2  $3 or absent(up{job="+
			strings.ReplaceAll(strconv.Quote(s.ExporterJob), "$", "$$")+"} == 1)")
	}
	text = exprField.ReplaceAllStringFunc(text, func(found string) string {
		m := exprField.FindStringSubmatch(found)
		expr := s.expr(s.Objectives.budgets(m[2]))
		if expr != m[2] && !strings.HasPrefix(expr, "|") { // what is added may have a colon
			expr = "|-\n" + m[1] + "  " + expr
		}
		return m[1] + "expr: " + expr + "\n" + m[3]
	})
	return s.withObjectives(name, s.annotated(text))
}

// budgets changes the shares of bad acquires that the alerts of the objectives allow.
func (o Objectives) budgets(expr string) string {
	shipped, promised := ShippedObjectives(), o.orShipped()
	to := map[string]string{
		number(budget(shipped.Availability)): number(budget(promised.Availability)),
		number(budget(shipped.Wait)):         number(budget(promised.Wait)),
	}
	return burning.ReplaceAllStringFunc(expr, func(found string) string {
		m := burning.FindStringSubmatch(found)
		if share, ok := to[m[2]]; ok {
			return m[1] + share
		}
		return found
	})
}

// annotated changes the objectives and the links in annotations.
func (s Settings) annotated(text string) string {
	shipped, promised := ShippedObjectives(), s.Objectives.orShipped()
	allows := func(target float64) string { return "The objective allows " + number(100*budget(target)) + " %" }
	longer := func(seconds float64) string { return "waited for longer than " + number(seconds) + " s" }
	pairs := []string{
		allows(shipped.Availability), allows(promised.Availability), allows(shipped.Wait), allows(promised.Wait),
		longer(shipped.Within), longer(promised.Within),
		"dashboard_url: /d/", "dashboard_url: " + strings.TrimSuffix(s.GrafanaURL, "/") + "/d/",
	}
	if s.RunbookURL != "" {
		pairs = append(pairs, ShippedRunbooks+"/", strings.TrimSuffix(s.RunbookURL, "/")+"/")
	}
	return s.each(strings.NewReplacer(pairs...).Replace(text),
		"var-"+ClusterLabel+"={{ $labels."+ClusterLabel+" | urlquery }}&", "")
}

// withObjectives adds the group of objectives after the groups that record.
func (s Settings) withObjectives(name, text string) string {
	at := strings.Index(text, "    - name: distributed-lock-slo\n") // in the manifest
	indent := "    "
	if name == "rules/recording.yaml" {
		at, indent = len(text), "  "
	}
	if len(s.Objectives.Resources) == 0 || at < 0 {
		return text
	}
	var group strings.Builder
	fmt.Fprintf(&group, "%[1]s- name: %s\n%[1]s  interval: 1m\n%[1]s  rules:\n", indent, objectivesGroup)
	rule := func(record string, value float64, resource string) {
		fmt.Fprintf(&group, "%[1]s    - record: %[2]s\n%[1]s      expr: vector(%[3]s)\n"+
			"%[1]s      labels:\n%[1]s        resource: %[4]q\n", indent, record, number(value), resource)
	}
	for _, r := range s.Objectives.Resources {
		if r.Every > 0 {
			rule("resource:distributed_lock_expected_interval:seconds", float64(r.Every)/1e9, r.Resource)
		}
		if r.Queues {
			rule("resource:distributed_lock_waiting_expected:bool", 1, r.Resource)
		}
	}
	return text[:at] + group.String() + text[at:]
}

// alertmanager makes Alertmanager group and inhibit by the labels.
func (s Settings) alertmanager(text string) string {
	if s.Labels == nil {
		return text
	}
	return listField.ReplaceAllStringFunc(text, func(field string) string {
		m := listField.FindStringSubmatch(field)
		items := s.apart(strings.Split(m[3], "\n"+m[2]))
		if len(items) == 0 {
			return ""
		}
		return m[1] + strings.Join(items, "\n"+m[2]) + "\n"
	})
}

package boards

import (
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// firing selects the alerts that fire for the chosen jobs, but not the watchdog.
func firing(more ...string) string {
	return `ALERTS{J,` + strings.Join(append([]string{`alertname=~"DistributedLock.+"`, `alertstate="firing"`,
		`severity=~"critical|warning"`}, more...), ",") + `}`
}

// heldBack selects the firing alerts for which the Alertmanager sends no notification, because their cause fires.
func heldBack() string {
	var all []string
	for _, i := range rules.Inhibitions() {
		labels := strings.ReplaceAll(strings.Join(i.Equal, ", "), deploy.ClusterLabel+", job", "$JOB")
		all = append(all, firing(i.Target...)+" and on ("+labels+") "+firing(i.Source...))
	}
	return "(" + strings.Join(all, " or ") + ")"
}

// What to do with an alert, as a value by which the table is sorted.
const startHere, actNow, lookInto, follows = "4", "3", "2", "1"

// urgency is what to do with each firing alert.
func urgency() string {
	return startHere + ` * ` + firing(`alertname="DistributedLockQuorumLost"`) +
		` or ` + follows + ` * ` + heldBack() + ` or ` + actNow + ` * ` + firing(`severity="critical"`) +
		` or ` + lookInto + ` * ` + firing(`severity="warning"`)
}

func whatToDo() column {
	return column{title: "Do", unit: "short", steps: steps(blue, at(2, orange), at(3, red)), width: 90,
		words: map[string]string{startHere: "start here", actNow: "act now", lookInto: "look into", follows: "follows"}}
}

// firingGroups has a line for each name of an alert: a lost quorum makes hundreds of alerts fire, and their cause
// must be above them.
func firingGroups() panel {
	const group = "($CLUSTER alertname, severity)"
	const age = `max by ($JOB, alertname, severity, resource, lock_node) (time() - ALERTS_FOR_STATE{J,` +
		`alertname=~"DistributedLock.+"} and ignoring (alertstate) `
	oldest := `topk by ` + group + ` (1, ` + age + firing() + `))`
	of := func(expr string) string { return `0 * ` + oldest + ` + on ` + group + ` group_left () ` + expr }
	return panel{kind: grid, title: "Firing alerts", unit: "short", decimals: auto, none: "no alert is firing",
		about: "Alerts of these rules that fire for the chosen jobs, one line for each name, causes first. The resource, " +
			"node and job are those of the longest. Good: none. Follows: a consequence of another alert, for which the " +
			"Alertmanager sends nothing. Click the name for the runbook. Alerts and objectives lists each.",
		queries: instants(of(`max by `+group+` (`+urgency()+`)`), of(`count by `+group+` (`+firing()+`)`), oldest),
		columns: []column{
			whatToDo(),
			{title: "Alerts", unit: "short", steps: neutral(), width: 70},
			{title: "Active for", unit: "s", decimals: auto, steps: neutral(), width: 100},
		},
		sorted: []string{"Do", "Active for"},
		order:  []string{"alertname", "Value #A", "Value #B", "Value #C", "resource", "lock_node", "job"},
		hidden: []string{"severity"},
		cells:  alertCells(), narrow: labelWidth,
	}
}

func alertCells() []labelColumn {
	return []labelColumn{
		{column: "alertname", width: 300, links: []link{{title: "Runbook",
			url: deploy.ShippedRunbooks + "/${__data.fields.alertname}.md", away: true}}},
		{column: "severity", width: 80},
		{column: "resource", links: []link{fromRow("This resource in depth", "lockscope-resource", "resource")}},
		{column: "lock_node", links: []link{fromRow("This node", "lockscope-nodes", "lock_node")}},
	}
}

// alertsNow is red only for alerts that page.
func alertsNow() panel {
	names := func(more ...string) string {
		return `count(count by ($CLUSTER alertname) (` + firing(more...) + ` unless ` + heldBack() + `))`
	}
	warnings := `(` + names() + ` unless on () ` + names(`severity="critical"`) + `)`
	return tile("Alerts firing", "short", 0, anyIsBad(),
		[]query{{expr: `(` + names() + ` or vector(0)) unless on () ` + warnings, legend: "alerts", instant: true}},
		"Alerts of these rules that fire for the chosen jobs, each name once, without the consequences of others. Good: 0. "+
			"Orange: none of them is critical. The table below has them all.").either("warnings", warnings, orange)
}

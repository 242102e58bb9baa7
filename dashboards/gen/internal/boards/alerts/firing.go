package alerts

import (
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// firing selects the alerts that fire for the chosen jobs, but not the watchdog.
func firing(more ...string) string {
	return active(append([]string{`severity=~"critical|warning"`}, more...)...)
}

// active selects the alerts of the chosen jobs that fire, also those that nobody gets.
func active(more ...string) string {
	return `ALERTS{J,` + strings.Join(append([]string{`alertname=~"DistributedLock.+"`, `alertstate="firing"`}, more...),
		",") + `}`
}

// heldBack selects the firing alerts for which the Alertmanager sends no notification, because their cause fires.
func heldBack() string {
	var all []string
	for _, i := range rules.Inhibitions() {
		labels := strings.ReplaceAll(strings.Join(i.Equal, ", "), deploy.ClusterLabel+", job", "$JOB")
		all = append(all, firing(i.Target...)+" and on ("+labels+") "+active(i.Source...))
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

func whatToDo() draw.Column {
	return draw.Column{Title: "Do", Unit: "short", Steps: draw.Steps(draw.Blue, draw.At(2, draw.Orange),
		draw.At(3, draw.Red)), Width: 90,
		Words: map[string]string{startHere: "start here", actNow: "act now", lookInto: "look into", follows: "follows"}}
}

// noAlert is what a table of alerts shows if it is empty: it cannot tell why.
const noAlert = "no alert is firing, or the rules are not evaluated"

// ByName is a table of the firing alerts. It has a line for each name: a lost quorum makes hundreds of alerts
// fire, and their cause must be above them.
func ByName() draw.Panel {
	const group = "($CLUSTER alertname, severity)"
	const age = `max by ($JOB, alertname, severity, resource, lock_node) (time() - ALERTS_FOR_STATE{J,` +
		`alertname=~"DistributedLock.+"} and ignoring (alertstate) `
	oldest := `topk by ` + group + ` (1, ` + age + firing() + `))`
	of := func(expr string) string { return `0 * ` + oldest + ` + on ` + group + ` group_left () ` + expr }
	return draw.Panel{Kind: draw.Table, Title: "Firing alerts", Unit: "short", Decimals: draw.Auto,
		None: noAlert,
		About: "Alerts of these rules that fire for the chosen jobs, one line for each name, causes first. The resource, " +
			"node and job are those of the longest. Good: none. Follows: a consequence of another alert, for which the " +
			"Alertmanager sends nothing. Click the name for the runbook. Alerts and objectives lists each.",
		Queries: draw.Instants(of(`max by `+group+` (`+urgency()+`)`), of(`count by `+group+` (`+firing()+`)`), oldest),
		Columns: []draw.Column{
			whatToDo(),
			{Title: "Alerts", Unit: "short", Steps: draw.Neutral(), Width: 70},
			{Title: "Active for", Unit: "s", Decimals: draw.Auto, Steps: draw.Neutral(), Width: 100},
		},
		Sorted: []string{"Do", "Active for"},
		Order:  []string{"alertname", "Value #A", "Value #B", "Value #C", "resource", "lock_node", "job"},
		Hidden: []string{"severity"},
		Cells:  alertCells(), Narrow: draw.LabelWidth,
	}
}

func alertCells() []draw.LabelColumn {
	return []draw.LabelColumn{
		{Name: "alertname", Width: 300, Links: []draw.Link{{Title: "Runbook",
			URL: deploy.ShippedRunbooks + "/${__data.fields.alertname}.md", Away: true}}},
		{Name: "severity", Width: 80},
		draw.ResourceCell(),
		draw.NodeCell(),
	}
}

// Firing is a tile with the number of firing alerts. It is red only for alerts that page.
func Firing() draw.Panel {
	names := func(more ...string) string {
		return `count(count by ($CLUSTER alertname) (` + firing(more...) + ` unless ` + heldBack() + `))`
	}
	warnings := `(` + names() + ` unless on () ` + names(`severity="critical"`) + `)`
	const evaluated = `max(ALERTS{alertname="DistributedLockWatchdog",alertstate="firing"})` // of no job; it always fires
	return draw.Tile("Alerts firing", "short", 0, draw.AnyIsBad(),
		[]draw.Query{{Expr: `(` + names() + ` or 0 * ` + evaluated + `) unless on () ` + warnings, Legend: "alerts",
			Instant: true}},
		"Alerts of these rules that fire for the chosen jobs, each name once, without the consequences of others. Good: 0. "+
			"Orange: none of them is critical. The table below has them all. No data: Prometheus does not evaluate the "+
			"rules.").Either("warnings", warnings, draw.Orange)
}

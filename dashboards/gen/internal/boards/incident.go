package boards

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// health is the strip that shows whether all is well and whether its data is fresh.
func health(c config.Config, o objectives) []panel {
	stale := time.Duration(c.Alerts.ScannerStale).Seconds()
	return []panel{
		tile("Worst availability", "percentunit", 2, atLeast(o.Availability),
			now("bottomk(1, "+o.availability(" by ($JOB, resource)")+")"),
			"The resource with the largest share of failed acquires in the time shown. Acquires that stalled calls "+
				"prevent count as failed. Good: "+percent(o.Availability)+
				" % or more. A small resource that always fails shows here, but not in the average beside it.").
			telling("{{resource}}"),
		tile("Availability", "percentunit", 3, atLeast(o.Availability), now(o.availability("")),
			"Share of acquires in the time shown that got the lock, over all resources. Good: "+percent(o.Availability)+
				" % or more. If it is lower, look at Objectives for the resource and at Outcomes for the reason."),
		nodesToSpare(
			"Usable lock nodes beyond the quorum, of the set with the fewest. Good: 1 of 3, 2 of 5. At 0 the next " +
				"node that fails stops all locking in its set: see Nodes."),
		tile("Leases lost", "short", 0, anyIsBad(),
			now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended in use. Good: 0. Two holders may have worked at once, unless the "+
				"resource checks fencing tokens. See Lost leases below."),
		tile("Leaked locks", "short", 0, anyIsBad(), now(findingKeys("no_ttl")),
			"Lock keys of any library without a TTL, confirmed by the scanner. A key on several nodes counts once. "+
				"Good: 0. Callers that wait for one wait forever: see Leaks."),
		tile("Alerts firing", "short", 0, anyIsBad(), now(`count(`+firingAlerts+`) or vector(0)`),
			"Alerts of these rules that fire for the chosen jobs, listed below. Good: 0. Each has a link to its "+
				"runbook."),
		tile("Scan age", "s", auto, steps(green, step{stale / 2, orange}, step{stale, red}),
			now("max(time() - max by ($CLUSTER lock_node) ("+lastSuccess+"{I} > 0))"),
			fmt.Sprintf(
				"Time since the last complete sweep, of the node with the oldest. Good: a few sweep intervals. Above "+
					"%s the findings shown are old.", c.Alerts.ScannerStale)),
		tile("Exporter age", "s", auto, steps(green, step{120, orange}, step{300, red}),
			now("max(time() - "+rules.ExporterSeen+"{J})"),
			"Time since an exporter of the chosen jobs was last scraped, of the job with the oldest. Good: below two "+
				"minutes. More: leaks and nodes shown here are old. Needs the recording rules."),
	}
}

const firingAlerts = `ALERTS{J,alertname=~"DistributedLock.+",alertstate="firing"}`

// firingPanels list the firing alerts with their age and runbook, from Prometheus and from Grafana.
func firingPanels(c config.Config) []panel {
	const height = 7
	return []panel{
		{kind: grid, title: "Firing alerts", w: 2 * third, h: height, unit: "s", decimals: auto,
			none: "no alert is firing",
			about: "Alerts of these rules that fire for the chosen jobs, and for how long. Good: none. Click the name " +
				"for the runbook, the resource or the node for its dashboard.",
			queries: now(
				`sort_desc(time() - ALERTS_FOR_STATE{J,alertname=~"DistributedLock.+"} and ignoring (alertstate) ` +
					firingAlerts + `)`),
			columns: []column{{title: "Active for", unit: "s", decimals: auto, steps: neutral(), width: 110}},
			order:   []string{"alertname", "severity", "Value", "resource", "lock_node", "job", "instance"},
			hidden:  []string{"backend", "class", "reason", "group"},
			cells: []labelColumn{
				{column: "alertname", width: 300,
					links: []link{{title: "Runbook", url: deploy.ShippedRunbooks + "/${__data.fields.alertname}.md",
						away: true}}},
				{column: "severity", width: 80},
				{column: "resource", links: []link{fromRow("This resource in depth", "lockscope-resource",
					"resource")}},
				{column: "lock_node", links: []link{fromRow("This node", "lockscope-nodes", "lock_node")}},
			}},
		{kind: alertList, title: "Alerts in Grafana", w: third, h: height,
			about: "The same alerts in Grafana, with pending ones and silences. Good: none. Empty if Grafana does not " +
				"read Prometheus's rules."},
	}
}

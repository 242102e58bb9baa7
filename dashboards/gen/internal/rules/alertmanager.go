package rules

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
)

// warnings of a resource, and of the nodes, that follow from calls that nobody serves.
var (
	unservedResource = []string{"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn",
		"DistributedLockWaitP99High",
		"DistributedLockRetryStorm", "DistributedLockWaitersPilingUp", "DistributedLockReleaseFailures"}
	unservedNodes = []string{"DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown",
		"DistributedLockNodeSlow"}
)

// consequences are alerts that a lost quorum brings about, for every resource.
var consequences = []string{
	"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn", "DistributedLockWaitP99High",
	"DistributedLockEveryAcquireFails", "DistributedLockOverdue", "DistributedLockLost", "DistributedLockRetryStorm",
	"DistributedLockWaitersPilingUp", "DistributedLockReleaseFailures", "DistributedLockAcquiresStalled",
}

type route struct {
	Matchers       []string `yaml:"matchers,omitempty"`
	Receiver       string   `yaml:"receiver"`
	GroupBy        []string `yaml:"group_by,omitempty"`
	GroupWait      string   `yaml:"group_wait,omitempty"`
	GroupInterval  string   `yaml:"group_interval,omitempty"`
	RepeatInterval string   `yaml:"repeat_interval,omitempty"`
	Routes         []route  `yaml:"routes,omitempty"`
}

type inhibition struct {
	Source []string `yaml:"source_matchers"`
	Target []string `yaml:"target_matchers"`
	Equal  []string `yaml:"equal,omitempty"`
}

// Alertmanager returns a configuration by which one cause is one notification: alerts
// are grouped by name and cluster, whatever the number of resources, and what follows
// from another alert is held back while that fires.
func Alertmanager() ([]byte, error) {
	var m struct {
		Route     route               `yaml:"route"`
		Receivers []map[string]string `yaml:"receivers"`
		Inhibit   []inhibition        `yaml:"inhibit_rules"`
	}
	m.Receivers = []map[string]string{{"name": "team"}, {"name": "watchdog"}}
	m.Route = route{Receiver: "team", GroupBy: []string{"alertname", deploy.ClusterLabel}, GroupWait: "30s",
		GroupInterval: "5m", RepeatInterval: "4h",
		Routes: []route{
			{Matchers: []string{`severity="none"`}, Receiver: "watchdog", GroupWait: "0s", GroupInterval: "1m",
				RepeatInterval: "5m"},
			// A quorum is known to be lost minutes after the first acquires have failed. A lost lease does not wait
			// for that, nor do calls that nobody serves.
			{Matchers: []string{named(without(consequences, "DistributedLockLost",
				"DistributedLockAcquiresStalled")...)},
				Receiver: "team", GroupWait: "3m"},
		}}
	m.Inhibit = inhibitions()
	return encode(m)
}

func inhibitions() []inhibition {
	cluster := []string{deploy.ClusterLabel}
	same := append(slices.Clone(cluster), "job")
	resource := append(slices.Clone(same), "resource")
	return []inhibition{
		{Source: []string{named("DistributedLockQuorumLost")}, Target: []string{named(consequences...)}, Equal: same},
		{Source: []string{named("DistributedLockQuorumLost")}, Equal: cluster,
			Target: []string{named("DistributedLockQuorumAtRisk",
				"DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown", "DistributedLockNodeSlow",
				"DistributedLockScannerStale", "DistributedLockScannerIncomplete")}},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedResource...), `severity="warning"`}, Equal: resource},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedNodes...), `severity="warning"`}, Equal: same},
		{Source: []string{named("DistributedLockQuorumAtRisk")},
			Target: []string{named("DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown")}, Equal: same},
		{Source: []string{named("DistributedLockExporterDown")},
			Target: []string{named("DistributedLockScannerStale", "DistributedLockScannerIncomplete")}, Equal: same},
		{Source: []string{named("DistributedLockEveryAcquireFails")},
			Target: []string{named("DistributedLockAcquireErrorBudgetBurn", "DistributedLockOverdue")},
			Equal:  resource},
		// A budget that burns fast burns slowly as well.
		{Source: []string{named(consequences[:2]...), `severity="critical"`},
			Target: []string{named(consequences[:2]...), `severity="warning"`}, Equal: append(resource, "alertname")},
	}
}

func named(alerts ...string) string { return `alertname=~"` + strings.Join(alerts, "|") + `"` }

func without(names []string, left ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(left, n) })
}

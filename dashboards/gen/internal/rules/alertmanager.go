package rules

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
)

// unservedResource and unservedNodes are the warnings that stalled calls cause, of a resource and of the nodes.
var (
	unservedResource = []string{"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn",
		"DistributedLockWaitP99High",
		"DistributedLockRetryStorm", "DistributedLockWaitersPilingUp", "DistributedLockWriterStarved",
		"DistributedLockReleaseFailures"}
	unservedNodes = []string{"DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown",
		"DistributedLockNodeSlow"}
)

// consequences are the alerts that a lost quorum causes for every resource.
var consequences = []string{
	"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn", "DistributedLockWaitP99High",
	"DistributedLockEveryAcquireFails", "DistributedLockOverdue", "DistributedLockLost", "DistributedLockRetryStorm",
	"DistributedLockWaitersPilingUp", "DistributedLockReleaseFailures", "DistributedLockAcquiresStalled",
	"DistributedLockNoLeader",
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

// Inhibition holds back the alerts that match Target while an alert that matches Source fires and has the same
// values of the labels Equal.
type Inhibition struct {
	Source []string `yaml:"source_matchers"`
	Target []string `yaml:"target_matchers"`
	Equal  []string `yaml:"equal,omitempty"`
}

// Alertmanager returns a configuration that sends one notification for one cause. It groups alerts by name
// and cluster, however many resources fire, and holds back the consequences of an alert while that alert fires.
func Alertmanager() ([]byte, error) {
	var m struct {
		Route     route               `yaml:"route"`
		Receivers []map[string]string `yaml:"receivers"`
		Inhibit   []Inhibition        `yaml:"inhibit_rules"`
	}
	m.Receivers = []map[string]string{{"name": "team"}, {"name": "watchdog"}}
	m.Route = route{Receiver: "team", GroupBy: []string{"alertname", deploy.ClusterLabel}, GroupWait: "30s",
		GroupInterval: "5m", RepeatInterval: "4h",
		Routes: []route{
			{Matchers: []string{`severity="none"`}, Receiver: "watchdog", GroupWait: "0s", GroupInterval: "1m",
				RepeatInterval: "5m"},
			// DistributedLockQuorumLost fires up to two minutes after the nodes hang, so its consequences wait.
			// Lost leases and stalled calls do not wait.
			{Matchers: []string{named(without(consequences, "DistributedLockLost",
				"DistributedLockAcquiresStalled")...)},
				Receiver: "team", GroupWait: "3m"},
		}}
	m.Inhibit = Inhibitions()
	return encode(m)
}

// Inhibitions lists the alerts that are consequences of others.
func Inhibitions() []Inhibition {
	cluster := []string{deploy.ClusterLabel}
	same := append(slices.Clone(cluster), "job")
	resource := append(slices.Clone(same), "resource")
	return []Inhibition{
		{Source: []string{named("DistributedLockQuorumLost")}, Target: []string{named(consequences...)}, Equal: same},
		{Source: []string{named("DistributedLockQuorumLost")}, Equal: cluster,
			Target: []string{named("DistributedLockQuorumAtRisk",
				"DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown", "DistributedLockNodeSlow",
				"DistributedLockScannerStale", "DistributedLockScannerIncomplete",
				"DistributedLockScannerMemoryFails")}},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedResource...), `severity="warning"`}, Equal: resource},
		{Source: []string{named("DistributedLockAcquiresStalled")}, Target: []string{named("DistributedLockNoLeader")},
			Equal: resource},
		{Source: []string{named("DistributedLockSemaphoreFull", "DistributedLockWriterStarved")},
			Target: []string{named("DistributedLockWaitersPilingUp")}, Equal: resource},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedNodes...), `severity="warning"`}, Equal: same},
		{Source: []string{named("DistributedLockQuorumAtRisk")},
			Target: []string{named("DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown")}, Equal: same},
		{Source: []string{named("DistributedLockExporterDown")},
			Target: []string{named("DistributedLockScannerStale", "DistributedLockScannerIncomplete")}, Equal: same},
		{Source: []string{named("DistributedLockEveryAcquireFails")},
			Target: []string{named("DistributedLockAcquireErrorBudgetBurn", "DistributedLockOverdue")},
			Equal:  resource},
		// A budget that burns fast also exceeds the lower burn rates.
		{Source: []string{named(consequences[:2]...), `severity="critical"`},
			Target: []string{named(consequences[:2]...), `severity="warning"`}, Equal: append(resource, "alertname")},
	}
}

func named(alerts ...string) string { return `alertname=~"` + strings.Join(alerts, "|") + `"` }

func without(names []string, left ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(left, n) })
}

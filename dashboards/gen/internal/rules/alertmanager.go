package rules

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/deploy"
)

// unservedResource and unservedNodes are the warnings that stalled calls cause, of a resource and of the nodes.
var (
	unservedResource = []string{"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn",
		"DistributedLockWaitP99High",
		"DistributedLockRetryStorm", "DistributedLockWaitersPilingUp", "DistributedLockLongWait",
		"DistributedLockWriterStarved", "DistributedLockReleaseFailures", "DistributedLockSilent"}
	unservedNodes = []string{"DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown",
		"DistributedLockNodeShaky", "DistributedLockNodeSlow"}
	// lookBack counts what happened in the last minutes, and fires for as long after an outage.
	lookBack = []string{"DistributedLockLost", "DistributedLockWaitP99High", "DistributedLockRetryStorm",
		"DistributedLockReleaseFailures", "DistributedLockNodeSlow", "DistributedLockNodeShaky"}
)

// consequences are the alerts that a lost quorum causes for every resource.
var consequences = []string{
	"DistributedLockAcquireErrorBudgetBurn", "DistributedLockWaitErrorBudgetBurn", "DistributedLockWaitP99High",
	"DistributedLockEveryAcquireFails", "DistributedLockOverdue", "DistributedLockSilent", "DistributedLockLost",
	"DistributedLockRetryStorm",
	"DistributedLockWaitersPilingUp", "DistributedLockLongWait", "DistributedLockReleaseFailures",
	"DistributedLockAcquiresStalled", "DistributedLockInstanceStalled", "DistributedLockNoLeader",
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
	m.Receivers = []map[string]string{{"name": "team"}, {"name": "watchdog"}, {"name": "nobody"}}
	m.Route = route{Receiver: "team", GroupBy: []string{"alertname", deploy.ClusterLabel}, GroupWait: "30s",
		GroupInterval: "5m", RepeatInterval: "4h",
		Routes: []route{
			{Matchers: []string{named("DistributedLockQuorumLostLately")}, Receiver: "nobody"},
			{Matchers: []string{`severity="none"`}, Receiver: "watchdog", GroupWait: "0s", GroupInterval: "1m",
				RepeatInterval: "5m"},
			// DistributedLockQuorumLost fires up to two minutes after the nodes hang, so its consequences wait. What holds
			// back lost leases fires a minute sooner. Stalled calls do not wait.
			{Matchers: []string{named("DistributedLockLost")}, Receiver: "team", GroupWait: "90s"},
			{Matchers: []string{named(without(consequences, "DistributedLockLost",
				"DistributedLockAcquiresStalled", "DistributedLockInstanceStalled")...)},
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
	backend := append(slices.Clone(same), "backend") // a job may have several sets of nodes
	return []Inhibition{
		{Source: []string{named("DistributedLockQuorumLost")}, Target: []string{named(consequences...)}, Equal: same},
		// From the first sign of a lost quorum until it is out of the window of the alert.
		{Source: []string{named("DistributedLockQuorumLostLately"), window(lookback)}, Target: []string{named(lookBack...)},
			Equal: same},
		{Source: []string{named("DistributedLockQuorumLostLately")}, Target: []string{named(consequences[:2]...)},
			Equal: append(slices.Clone(same), "short_window")},
		{Source: []string{named("DistributedLockQuorumLost")}, Equal: backend,
			Target: []string{named("DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown",
				"DistributedLockNodeShaky", "DistributedLockNodeSlow")}},
		// A scanner that sees the lost quorum itself: nobody acquires there.
		{Source: []string{named("DistributedLockQuorumLost")}, Equal: same,
			Target: []string{named("DistributedLockScannerStale", "DistributedLockScannerIncomplete",
				"DistributedLockScannerMemoryFails")}},
		// A scanner of nodes that other jobs cannot use. An incomplete sweep does not name the node: DistributedLockScannerStale
		// does, and is held back for the nodes that are down.
		{Source: []string{named("DistributedLockQuorumLost")}, Equal: cluster,
			Target: []string{named("DistributedLockScannerIncomplete"), `reason="node_failed"`}},
		{Source: []string{named("DistributedLockNodeDown")}, Target: []string{named("DistributedLockScannerStale")},
			Equal: append(slices.Clone(cluster), "lock_node")},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedResource...), `severity="warning"`}, Equal: resource},
		{Source: []string{named("DistributedLockAcquiresStalled")}, Target: []string{named("DistributedLockNoLeader")},
			Equal: resource},
		{Source: []string{named("DistributedLockSemaphoreFull", "DistributedLockWriterStarved")},
			Target: []string{named("DistributedLockWaitersPilingUp", "DistributedLockLongWait")}, Equal: resource},
		{Source: []string{named("DistributedLockLongWait")},
			Target: []string{named("DistributedLockWaitersPilingUp")}, Equal: resource},
		{Source: []string{named("DistributedLockDeadlock")},
			Target: []string{named("DistributedLockLongWait")}, Equal: resource},
		// The other processes get locks: only this one is to be looked at.
		{Source: []string{named("DistributedLockInstanceStalled")}, Equal: same,
			Target: []string{named("DistributedLockAcquiresStalled", "DistributedLockInstanceQuorumAtRisk")}},
		{Source: []string{named("DistributedLockNodeDown", "DistributedLockNodeShaky")},
			Target: []string{named("DistributedLockNodeSlow")}, Equal: append(slices.Clone(same), "lock_node")},
		{Source: []string{named("DistributedLockAcquiresStalled")},
			Target: []string{named(unservedNodes...), `severity="warning"`}, Equal: same},
		{Source: []string{named("DistributedLockQuorumAtRisk")},
			Target: []string{named("DistributedLockInstanceQuorumAtRisk", "DistributedLockNodeDown")}, Equal: backend},
		{Source: []string{named("DistributedLockExporterDown")},
			Target: []string{named("DistributedLockScannerStale", "DistributedLockScannerIncomplete")}, Equal: same},
		{Source: []string{named("DistributedLockEveryAcquireFails")},
			Target: []string{named("DistributedLockAcquireErrorBudgetBurn", "DistributedLockOverdue",
				"DistributedLockSilent")}, Equal: resource},
		// A budget that burns fast also exceeds the lower burn rates.
		{Source: []string{named(consequences[:2]...), `severity="critical"`},
			Target: []string{named(consequences[:2]...), `severity="warning"`}, Equal: append(resource, "alertname")},
	}
}

func window(w model.Duration) string { return `short_window="` + w.String() + `"` }

func named(alerts ...string) string { return `alertname=~"` + strings.Join(alerts, "|") + `"` }

func without(names []string, left ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(left, n) })
}

package rules

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// ofGroup names the group of servers, if the scanner has several.
const ofGroup = "{{ with $labels.group }}, group {{ . }}{{ end }}"

const quorumMissing = `$USABLE < on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
	or (
		sum by ($JOB, group) ($REACHED) <= count by ($JOB, group) ($REACHED) / 2
		unless on ($JOB, group) ($REACHED and on ($CLUSTER lock_node) ($NODE and on ($JOB, backend) (
			$USABLE < on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
		)))
	)`

var ofViews = []string{"$USABLE", NodesUsable, "$REACHED", NodeReached, "$NODE", NodeUsable}

// lately are alerts that nobody gets. They hold back what a lost quorum causes: from its first sign, which is a minute
// before its own alert, until it is out of the window that the other alert looks back on.
func (m maker) lately() []rulefmt.Rule {
	windows := []model.Duration{lookback}
	for _, w := range m.config.SLO.Windows {
		windows = append(windows, w.Short)
	}
	slices.Sort(windows)
	var all []rulefmt.Rule
	for _, w := range slices.Compact(windows) {
		all = append(all, m.alert(alert{
			name: "DistributedLockQuorumLostLately", severity: none,
			labels: map[string]string{"short_window": w.String()},
			expr:   `group by ($JOB) (last_over_time($MISSING[$W]))`,
			// Recorded rates look back five minutes, and are evaluated once a minute.
			pairs:   []string{"$MISSING", QuorumMissing, "$W", (w + fiveMinutes + 2*m.config.Interval).String()},
			summary: "{{ $labels.job }}: the quorum was lost within " + w.String(),
			about: "Alerts of {{ $labels.job }} that count over " + w.String() + " still see an outage that is already reported. " +
				"Alertmanager holds them back while this alert fires, and sends this one to nobody.",
			board: nodesBoard,
		}))
	}
	return all
}

// lookback is how far the alerts about counted losses look back.
const lookback = 3 * fiveMinutes

func (m maker) nodes() []rulefmt.Rule {
	return []rulefmt.Rule{m.quorum(), m.instanceQuorum(), m.nodeDown(), m.nodeShaky(), m.nodeSlow(), m.nodeClock()}
}

// quorumLost and quorum use the view of the processes that lock, or the scanner's where none does: without
// commands no process notices that nodes are gone. For the scanner a quorum is the majority of the nodes of
// one group of its configuration, if they are known to form one Redlock. Where the processes say the same of a
// node, the scanner is silent. quorumLost waits for less than quorum: nobody gets a lock meanwhile.
func (m maker) quorumLost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockQuorumLost", severity: critical, hold: aMinute,
		expr:    QuorumMissing,
		summary: "{{ $labels.job }}" + ofGroup + ": usable lock nodes: {{ $value }}, fewer than the quorum",
		about: "Most processes of {{ $labels.job }}" + ofGroup +
			" can use only {{ $value }} of their lock nodes, fewer than the quorum. " +
			"Acquires and renewals fail, and leases are lost when their validity ends.",
		board: nodesBoard,
	})
}

// quorum fires only if more nodes exist than the quorum needs and the quorum is not lost: one or two nodes
// never have one to spare. The majority of the processes decides whether a node counts; instanceQuorum covers
// a single process that is cut off.
func (m maker) quorum() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockQuorumAtRisk", severity: critical, hold: onceAgain,
		expr: `(
				$USABLE == on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
				and on ($JOB, backend)
					max by ($JOB, backend) (distributed_lock_nodes)
					> on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
			)
			or (
				sum by ($JOB, group) ($REACHED) <= count by ($JOB, group) ($REACHED) / 2 + 1
				and sum by ($JOB, group) ($REACHED) > count by ($JOB, group) ($REACHED) / 2
				and sum by ($JOB, group) ($REACHED) < count by ($JOB, group) ($REACHED)
				unless on ($JOB, group) ($REACHED and on ($CLUSTER lock_node) ($NODE and on ($JOB, backend) (
					$USABLE <= on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
					and on ($JOB, backend)
						max by ($JOB, backend) (distributed_lock_nodes)
						> on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
				)))
			)`,
		pairs: ofViews,
		summary: "{{ $labels.job }}" + ofGroup + ": usable lock nodes: {{ $value }}; if one more fails, nobody " +
			"gets a lock",
		about: "Most processes of {{ $labels.job }}" + ofGroup +
			" can use only {{ $value }} of their lock nodes, exactly the quorum. " +
			"If one more node fails, every acquire and every renewal fails.",
		board: nodesBoard,
	})
}

func (m maker) instanceQuorum() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockInstanceQuorumAtRisk", severity: warning, hold: fiveMinutes,
		expr: `$EACH <= on ($JOB, instance, backend) max by ($JOB, instance, backend) (distributed_lock_quorum_nodes)
			and on ($JOB, instance, backend)
				max by ($JOB, instance, backend) (distributed_lock_nodes)
				> on ($JOB, instance, backend) max by ($JOB, instance, backend) (distributed_lock_quorum_nodes)
			unless on ($JOB, backend)
				$USABLE <= on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)`,
		pairs:   []string{"$EACH", NodesUsableForEach, "$USABLE", NodesUsable},
		summary: "{{ $labels.instance }}: usable lock nodes: {{ $value }}, while other processes can use more",
		about: "{{ $labels.instance }} of {{ $labels.job }} can use {{ $value }} of its lock nodes, no more than the " +
			"quorum. Most other processes can use more. Check the network and the credentials of this process.",
		board: nodesBoard + "&var-instance={{ $labels.instance | urlquery }}",
	})
}

func (m maker) nodeDown() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockNodeDown", severity: warning, hold: fiveMinutes,
		expr:    `$USABLE <= 0.5`,
		pairs:   []string{"$USABLE", NodeUsable},
		summary: "{{ $labels.lock_node }}: at least half of the processes of {{ $labels.job }} cannot use this node",
		about: "On {{ $labels.lock_node }}, most acquire commands succeed for only {{ $value | humanizePercentage }} of " +
			"the processes of {{ $labels.job }}. The other nodes go on without it, with one fewer to spare.",
		board: nodeBoard,
	})
}

// nodeShaky is about a node that the processes can use, and that fails too often. A restart of a minute is none.
func (m maker) nodeShaky() rulefmt.Rule {
	ratio := m.config.Alerts.NodeFailureRatio
	return m.alert(alert{
		name: "DistributedLockNodeShaky", severity: warning, hold: 3 * fiveMinutes,
		expr: `avg by ($JOB, backend, lock_node) (avg_over_time($ERRORS[5m])) >= $RATIO
			unless on ($JOB, backend, lock_node) $USABLE <= 0.5`,
		pairs:   []string{"$ERRORS", NodeErrors, "$RATIO", number(ratio), "$USABLE", NodeUsable},
		summary: "{{ $labels.lock_node }}: shaky: {{ $value | humanizePercentage }} of the commands fail",
		about: "On {{ $labels.lock_node }}, {{ $value | humanizePercentage }} of the acquire commands of {{ $labels.job }} " +
			"fail, and " + number(100*ratio) + " % or more have for fifteen minutes. Callers still get its votes most of the " +
			"time: each failure costs them time, or the quorum if another node is down.",
		board: nodeBoard,
	})
}

func (m maker) nodeSlow() rulefmt.Rule {
	limit := number(m.config.Alerts.NodeP99Seconds)
	return m.alert(alert{
		name: "DistributedLockNodeSlow", severity: warning, hold: 2 * fiveMinutes,
		expr: `$P99 > $LIMIT
			and sum by ($JOB, backend, lock_node)
			(increase(distributed_lock_node_duration_seconds_count{operation="acquire"}[5m]))
				- sum by ($JOB, backend, lock_node)
				(increase(distributed_lock_node_duration_seconds_bucket{operation="acquire",$LE}[5m])) > $BAD`,
		pairs: []string{"$P99", NodeP99, "$LIMIT", limit, "$BAD", atLeast(m.config.SLO.MinBad),
			"$LE", bucket(floor(nodeBuckets(), m.config.Alerts.NodeP99Seconds))},
		summary: "{{ $labels.lock_node }}: one command in a hundred takes longer than " + limit + " s",
		about: "The p99 of acquire commands of {{ $labels.job }} on {{ $labels.lock_node }} has " +
			"been above " + limit +
			" s for ten minutes and is now {{ $value | humanizeDuration }}. Commands that reach the node " +
			"timeout count as failed.",
		board: nodeBoard,
	})
}

// nodeClock compares with the clock that half of the processes agree on: one process whose own clock is wrong does not
// blame the nodes. A job of one or two processes cannot tell.
func (m maker) nodeClock() rulefmt.Rule {
	limit := number(m.config.Alerts.ClockSkewSeconds)
	return m.alert(alert{
		name: "DistributedLockNodeClock", severity: warning, hold: fiveMinutes,
		expr: `quantile by ($JOB, backend, lock_node) (0.5, distributed_lock_node_clock_skew_seconds) > $LIMIT
			or quantile by ($JOB, backend, lock_node) (0.5, distributed_lock_node_clock_skew_seconds) < -$LIMIT`,
		pairs:   []string{"$LIMIT", limit},
		summary: "{{ $labels.lock_node }}: the clock is off by {{ $value | humanize }} s",
		about: "The clock of {{ $labels.lock_node }} is {{ $value | humanize }} s ahead of the clocks of {{ $labels.job }} " +
			"(negative: behind), more than " + limit + " s for five minutes. A node measures leases and quarantines by " +
			"its own clock: a step that corrects it ends leases early or late.",
		board: nodeBoard,
	})
}

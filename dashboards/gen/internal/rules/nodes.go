package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// ofGroup names the group of servers that the scanner tells of, if it has several.
const ofGroup = "{{ with $labels.group }}, group {{ . }}{{ end }}"

func (m maker) nodes() []rulefmt.Rule {
	return []rulefmt.Rule{m.quorumLost(), m.quorum(), m.instanceQuorum(), m.nodeDown(), m.nodeSlow()}
}

// quorumLost and quorum ask those who lock, and the scanner where nobody does: without
// commands there is no view of the nodes, and no sign that they are gone. For the
// scanner a quorum is the majority of the nodes it is given, in each group of its
// configuration by itself.
func (m maker) quorumLost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockQuorumLost", severity: critical, hold: onceAgain,
		expr: `$USABLE < on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
			or (
				sum by ($JOB, group) ($REACHED) <= count by ($JOB, group) ($REACHED) / 2
				and count by ($JOB, group) ($REACHED) >= 3
			)`,
		pairs:   []string{"$USABLE", NodesUsable, "$REACHED", NodeReached},
		summary: "{{ $labels.job }}" + ofGroup + ": lock nodes that are usable: {{ $value }}, fewer than the quorum",
		about: "Most processes of {{ $labels.job }}" + ofGroup +
			" can use {{ $value }} of their lock nodes, fewer than " +
			"the quorum. " +
			"Their acquires and renewals fail, and their leases end when the validity does.",
		board: nodesBoard,
	})
}

// A single node, or two, have no node to spare on their best day: at risk is only
// what could be better, and what is not lost. Whether a node counts is for the majority of the processes
// to say; one that is cut off alone is the next alert's.
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
			)`,
		pairs: []string{"$USABLE", NodesUsable, "$REACHED", NodeReached},
		summary: "{{ $labels.job }}" + ofGroup + ": lock nodes that are usable: {{ $value }}; with one less nobody " +
			"gets a lock",
		about: "Most processes of {{ $labels.job }}" + ofGroup +
			" can use {{ $value }} of their lock nodes, which is no " +
			"more than the quorum. One node less, and every acquire and every renewal fails.",
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
		summary: "{{ $labels.instance }}: can use {{ $value }} of its lock nodes, while others can use more",
		about: "{{ $labels.instance }} of {{ $labels.job }} can use {{ $value }} of its lock nodes, no more than the " +
			"quorum. Most other processes can use more: look at the network and the credentials of this one.",
		board: nodesBoard + "&var-instance={{ $labels.instance | urlquery }}",
	})
}

func (m maker) nodeDown() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockNodeDown", severity: warning, hold: fiveMinutes,
		expr:    `$USABLE <= 0.5`,
		pairs:   []string{"$USABLE", NodeUsable},
		summary: "{{ $labels.lock_node }}: takes no part in the votes of {{ $labels.job }}",
		about: "Only {{ $value | humanizePercentage }} of the processes of {{ $labels.job }} get most of their commands " +
			"carried out by {{ $labels.lock_node }}. The others of its nodes go on without it, with one to spare less.",
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
			" s for ten minutes and is {{ $value | humanizeDuration }} now. Where it reaches the node " +
			"timeout, the node loses its vote.",
		board: nodeBoard,
	})
}

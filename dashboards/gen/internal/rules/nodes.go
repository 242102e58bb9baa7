package rules

import "github.com/prometheus/prometheus/model/rulefmt"

// ofGroup names the group of servers, if the scanner has several.
const ofGroup = "{{ with $labels.group }}, group {{ . }}{{ end }}"

func (m maker) nodes() []rulefmt.Rule {
	return []rulefmt.Rule{m.quorum(), m.instanceQuorum(), m.nodeDown(), m.nodeSlow()}
}

// quorumLost and quorum use the view of the processes that lock, or the scanner's where none does: without
// commands no process notices that nodes are gone. For the scanner a quorum is the majority of the nodes of
// one group of its configuration. quorumLost waits for less than quorum: nobody gets a lock meanwhile.
func (m maker) quorumLost() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockQuorumLost", severity: critical, hold: aMinute,
		expr: `$USABLE < on ($JOB, backend) max by ($JOB, backend) (distributed_lock_quorum_nodes)
			or (
				sum by ($JOB, group) ($REACHED) <= count by ($JOB, group) ($REACHED) / 2
				and count by ($JOB, group) ($REACHED) >= 3
			)`,
		pairs:   []string{"$USABLE", NodesUsable, "$REACHED", NodeReached},
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
			)`,
		pairs: []string{"$USABLE", NodesUsable, "$REACHED", NodeReached},
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

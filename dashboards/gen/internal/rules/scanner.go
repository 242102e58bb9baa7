package rules

import "github.com/prometheus/prometheus/model/rulefmt"

func (m maker) scanner() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.found("DistributedLockLeaked", "no_ttl",
			"{{ $labels.job }}: locks that never expire: {{ $value }}",
			"Lock keys without a TTL: at least {{ $value }}. Callers that wait for one of them wait forever."),
		m.found("DistributedLockOverlong", "long_ttl",
			"{{ $labels.job }}: locks with a TTL above the limit: {{ $value }}",
			"Lock keys with a TTL above the scanner's --max-ttl: at least {{ $value }}. If a holder dies, its waiters "+
				"wait for the rest of the TTL."),
		m.found("DistributedLockHeldTooLong", "held_too_long",
			"{{ $labels.job }}: locks held too long: {{ $value }}",
			"Lock keys with the same holder in every sweep for longer than the scanner's --max-hold: at least {{ $value }}. "+
				"The holder does not finish, or takes the lock again and again: the finding's evidence says what is known."),
		m.found("DistributedLockOrphaned", "orphan",
			"{{ $labels.job }}: locks on a minority of the nodes: {{ $value }}",
			"Lock keys without a holder, because only a minority of the nodes has their token: at least {{ $value }}. "+
				"Until a key expires, these nodes vote against every caller that wants the lock."),
		m.found("DistributedLockForeignType", "foreign_type",
			"{{ $labels.job }}: keys with the name of a lock that are not locks: {{ $value }}",
			"Keys that match the scanner's pattern but have a Redis type that no lock has: at least {{ $value }}. "+
				"Callers that want a lock of that name find it held, by an unknown owner that never releases it."),
		m.silentKeys(), m.incomplete(), m.stillDeadlocked(), m.stale(), m.memoryFails(), m.exporterDown(), m.watchdog(),
	}
}

// found keeps firing for a while: a scanner that takes over looks at each key twice before it reports a finding.
func (m maker) found(name, class, summary, about string) rulefmt.Rule {
	return m.alert(alert{
		name: name, severity: warning, hold: fiveMinutes, keep: 3 * fiveMinutes,
		expr:    `$KEYS{class="$CLASS"} > 0`,
		pairs:   []string{"$KEYS", FindingKeys, "$CLASS", class},
		summary: summary, about: about, board: leaksBoard,
	})
}

// silentKeys is about the locks of any library. The scanner itself compares with a day and a week before.
func (m maker) silentKeys() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockSilentKeys", severity: warning, hold: fiveMinutes,
		expr:    `max by ($JOB) (distributed_lock_scanner_silent_locks) > 0`,
		summary: "{{ $labels.job }}: locks that were seen regularly are no longer seen: {{ $value }}",
		about: "Sweeps of {{ $labels.job }} saw these locks in every hour for a day, and then not for three of their " +
			"longest pauses: {{ $value }}. The scanner's log names them. Either the work stopped, or the key was renamed.",
		board: leaksBoard,
	})
}

func (m maker) incomplete() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockScannerIncomplete", severity: warning, hold: 3 * fiveMinutes,
		expr: `max by ($JOB, reason) (
				distributed_lock_scanner_incomplete unless on ($JOB, instance) distributed_lock_scanner_standby == 1
			) > 0`,
		summary: "{{ $labels.job }}: sweeps are incomplete ({{ $labels.reason }})",
		about: "The last sweeps of {{ $labels.job }} did not read everything: {{ $labels.reason }}, {{ $value }} times. " +
			"Leaks in the unread part are not reported.",
		board: leaksBoard,
	})
}

// stillDeadlocked is about cycles across processes, which no single process sees.
func (m maker) stillDeadlocked() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockDeadlock", severity: critical, hold: fiveMinutes,
		expr:    `max by ($JOB) (distributed_lock_scanner_deadlocks) > 0`,
		summary: "{{ $labels.job }}: deadlocks in the queues: {{ $value }}",
		about: "Cycles of callers in the queues that {{ $labels.job }} reads: {{ $value }}. In a cycle, each caller holds " +
			"the lock that the next one waits for. None of them gets a lock until one caller gives up.",
		board: leaksBoard,
	})
}

// stale has a second half for nodes that have never had a complete sweep.
func (m maker) stale() rulefmt.Rule {
	limit := m.config.Alerts.ScannerStale
	return m.alert(alert{
		name: "DistributedLockScannerStale", severity: warning, hold: fiveMinutes,
		expr:    `time() - $SWEEP > $LIMIT or (max by ($JOB, lock_node) (distributed_lock_scanner_up) unless $SWEEP)`,
		pairs:   []string{"$LIMIT", seconds(limit), "$SWEEP", LastSweep},
		summary: "{{ $labels.lock_node }}: no complete sweep for more than " + limit.String(),
		about: "{{ $labels.job }} has not completed a sweep of {{ $labels.lock_node }} " +
			"in the last " + limit.String() + ". New leaks there are not reported, and the known findings are old.",
		board: leakBoard,
	})
}

// memoryFails waits for longer than one failure shows: a process that takes over may miss one save.
func (m maker) memoryFails() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockScannerMemoryFails", severity: warning, hold: 4 * fiveMinutes,
		expr:    `sum by ($JOB, instance) (increase(distributed_lock_scanner_memory_failures_total[15m])) > 0`,
		summary: "{{ $labels.instance }}: the scanner cannot load or save its memory",
		about: "{{ $labels.instance }} of {{ $labels.job }} has failed to load or save its --state for twenty minutes. " +
			"It still sweeps. After a restart it reports known leaks again, and confirms each of them first. Its log " +
			"has the error: free the disk, or remove a damaged file.",
		board: leaksBoard,
	})
}

// exporterDown recognises a scanner by its metrics, whatever its scrape job is called: services without one serve the
// build info too. One remaining replica is enough, also one on standby. Recorded series may be two intervals old.
func (m maker) exporterDown() rulefmt.Rule {
	fresh := 2 * m.config.Interval
	return m.alert(alert{
		name: "DistributedLockExporterDown", severity: warning, hold: fiveMinutes - min(fresh, fiveMinutes),
		expr:    `time() - $SEEN > $FRESH`,
		pairs:   []string{"$SEEN", ExporterSeen, "$FRESH", seconds(fresh)},
		summary: "{{ $labels.job }}: no scanner answers",
		about: "No target of the job {{ $labels.job }} has served the metrics of a scanner for five minutes, but one " +
			"did in the last 30 days. Leaks are not reported until one serves them again.",
		board: leaksBoard,
	})
}

// watchdog always fires: its receiver raises the alarm when it stops arriving.
func (m maker) watchdog() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockWatchdog", severity: none, expr: `vector(1)`,
		summary: "alerts about distributed locks are evaluated and delivered",
		about: "This alert always fires. If it stops arriving, no other alert about distributed locks arrives either. " +
			"Have a service outside the cluster alert you then.",
		board: "lockscope-overview",
	})
}

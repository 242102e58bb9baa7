package rules

import "github.com/prometheus/prometheus/model/rulefmt"

func (m maker) scanner() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.found("DistributedLockLeaked", "no_ttl",
			"{{ $labels.job }}: locks that never expire: {{ $value }}",
			"Lock keys without a TTL: {{ $value }} or more. Whoever waits for one of them waits for good."),
		m.found("DistributedLockOverlong", "long_ttl",
			"{{ $labels.job }}: locks that expire later than allowed: {{ $value }}",
			"Lock keys with a TTL above the scanner's --max-ttl: {{ $value }} or more. If their holder dies, the others wait "+
				"for that long."),
		m.found("DistributedLockHeldTooLong", "held_too_long",
			"{{ $labels.job }}: locks that have been held for too long: {{ $value }}",
			"Lock keys that have had one holder for longer than the scanner's --max-hold: {{ $value }} or more. Something "+
				"renews a lock and does not get done."),
		m.found("DistributedLockOrphaned", "orphan",
			"{{ $labels.job }}: locks that are on a minority of the nodes only: {{ $value }}",
			"Lock keys that belong to nobody, as their token is on a minority of the nodes: {{ $value }} or more. Until they "+
				"expire, those nodes vote against everybody who wants them."),
		m.found("DistributedLockForeignType", "foreign_type",
			"{{ $labels.job }}: keys with names of locks that are none: {{ $value }}",
			"Keys that match the scanner's pattern and have a Redis type that no lock has: {{ $value }} or more. Whoever wants "+
				"a lock of such a name gets an error."),
		m.incomplete(), m.stillDeadlocked(), m.stale(), m.exporterDown(), m.watchdog(),
	}
}

// found is of keys; whoever replaces the scanner looks twice before it finds them again.
func (m maker) found(name, class, summary, about string) rulefmt.Rule {
	return m.alert(alert{
		name: name, severity: warning, hold: fiveMinutes, keep: 3 * fiveMinutes,
		expr:    `$KEYS{class="$CLASS"} > 0`,
		pairs:   []string{"$KEYS", FindingKeys, "$CLASS", class},
		summary: summary, about: about, board: leaksBoard,
	})
}

func (m maker) incomplete() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockScannerIncomplete", severity: warning, hold: 3 * fiveMinutes,
		expr: `max by ($JOB, reason) (
				distributed_lock_scanner_incomplete unless on ($JOB, instance) distributed_lock_scanner_standby == 1
			) > 0`,
		summary: "{{ $labels.job }}: sweeps leave something out ({{ $labels.reason }})",
		about: "The last sweeps of {{ $labels.job }} did not read everything: {{ $labels.reason }}, {{ $value }} times. " +
			"That no leak was found says nothing of what was left out.",
		board: leaksBoard,
	})
}

// stillDeadlocked is for cycles over several processes, which none of them sees.
func (m maker) stillDeadlocked() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockDeadlock", severity: critical, hold: fiveMinutes,
		expr:    `max by ($JOB) (distributed_lock_scanner_deadlocks) > 0`,
		summary: "{{ $labels.job }}: groups of callers that wait for one another: {{ $value }}",
		about: "The queues that {{ $labels.job }} reads have cycles of callers, each of which holds what the next one " +
			"waits for: {{ $value }}. None gets a lock before one of them gives up.",
		board: leaksBoard,
	})
}

// The second half is for nodes of which no sweep has ever been complete.
func (m maker) stale() rulefmt.Rule {
	limit := m.config.Alerts.ScannerStale
	return m.alert(alert{
		name: "DistributedLockScannerStale", severity: warning, hold: fiveMinutes,
		expr:    `time() - $SWEEP > $LIMIT or (max by ($JOB, lock_node) (distributed_lock_scanner_up) unless $SWEEP)`,
		pairs:   []string{"$LIMIT", seconds(limit), "$SWEEP", LastSweep},
		summary: "{{ $labels.lock_node }}: not swept to the end for more than " + limit.String(),
		about: "No sweep of {{ $labels.lock_node }} by {{ $labels.job }} was complete " +
			"in the last " + limit.String() + ". Leaks there go unnoticed, and what is known of them is old.",
		board: leakBoard,
	})
}

// An exporter is known by its build info, whatever its scrape job is called. One
// replica left is enough. Two intervals are how old what is recorded may be.
func (m maker) exporterDown() rulefmt.Rule {
	fresh := 2 * m.config.Interval
	return m.alert(alert{
		name: "DistributedLockExporterDown", severity: warning, hold: fiveMinutes - min(fresh, fiveMinutes),
		expr:    `time() - $SEEN > $FRESH`,
		pairs:   []string{"$SEEN", ExporterSeen, "$FRESH", seconds(fresh)},
		summary: "{{ $labels.job }}: no exporter of lock metrics answers",
		about: "No target of the job {{ $labels.job }} has served the metrics of lockscope for five minutes, and one did " +
			"within the last 30 days. No leak is found meanwhile.",
		board: leaksBoard,
	})
}

// watchdog fires always: whoever receives it sounds the alarm when it does not come.
func (m maker) watchdog() rulefmt.Rule {
	return m.alert(alert{
		name: "DistributedLockWatchdog", severity: none, expr: `vector(1)`,
		summary: "alerts about distributed locks are evaluated and delivered",
		about: "This alert always fires. If it does not arrive, neither does any other: let a service outside of the " +
			"cluster tell you when it stops coming.",
		board: "lockscope-overview",
	})
}

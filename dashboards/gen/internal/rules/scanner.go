package rules

import (
	"fmt"

	"github.com/prometheus/prometheus/model/rulefmt"
)

func (m maker) scanner() []rulefmt.Rule {
	return []rulefmt.Rule{
		m.found("DistributedLockLeaked", "no_ttl",
			"{{ $labels.lock_node }}: {{ $value }} locks never expire",
			"{{ $value }} lock keys on {{ $labels.lock_node }} have no TTL. Whoever waits for one of them waits for good."),
		m.found("DistributedLockOverlong", "long_ttl",
			"{{ $labels.lock_node }}: {{ $value }} locks expire later than allowed",
			"{{ $value }} lock keys on {{ $labels.lock_node }} have a TTL above the scanner's --max-ttl. If their holder dies, the others wait for that long."),
		m.found("DistributedLockHeldTooLong", "held_too_long",
			"{{ $labels.lock_node }}: {{ $value }} locks have been held for too long",
			"{{ $value }} lock keys on {{ $labels.lock_node }} have had the same holder for longer than the scanner's --max-hold: something renews a lock and does not get done."),
		m.found("DistributedLockOrphaned", "orphan",
			"{{ $labels.lock_node }}: {{ $value }} locks exist on a minority of the nodes only",
			"{{ $value }} lock keys on {{ $labels.lock_node }} belong to nobody: their token is on a minority of the nodes. Until they expire, this node votes against everybody who wants them."),
		m.found("DistributedLockForeignType", "foreign_type",
			"{{ $labels.lock_node }}: {{ $value }} keys have names of locks and are none",
			"{{ $value }} keys on {{ $labels.lock_node }} match the scanner's pattern and have a Redis type that no lock has. Whoever wants a lock of such a name gets an error."),
		m.stale(), m.exporterDown(),
	}
}

func (m maker) found(name, class, summary, about string) rulefmt.Rule {
	return m.alert(alert{
		name: name, severity: warning, hold: fiveMinutes,
		expr:    `$FINDINGS{class="$CLASS"} > 0`,
		pairs:   []string{"$FINDINGS", Findings, "$CLASS", class},
		summary: summary, about: about, board: leakBoard,
	})
}

// The second half is for nodes of which no sweep has ever been complete.
func (m maker) stale() rulefmt.Rule {
	limit := m.config.Alerts.ScannerStale
	return m.alert(alert{
		name: "DistributedLockScannerStale", severity: warning, hold: fiveMinutes,
		expr: `time() - max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds{&}) > $LIMIT
			or (
				max by ($JOB, lock_node) (distributed_lock_scanner_up{&})
				unless max by ($JOB, lock_node) (distributed_lock_scanner_last_success_timestamp_seconds{&})
			)`,
		pairs:   []string{"$LIMIT", seconds(limit)},
		summary: "{{ $labels.lock_node }}: not swept to the end for more than " + limit.String(),
		about:   "No sweep of {{ $labels.lock_node }} by {{ $labels.job }} was complete in the last " + limit.String() + ". Leaks there go unnoticed, and what is known of them is old.",
		board:   leakBoard,
	})
}

// An exporter is known by its build info, whatever its scrape job is called. One
// replica left is enough.
func (m maker) exporterDown() rulefmt.Rule {
	expr := `count by ($JOB) (last_over_time(distributed_lock_exporter_build_info{&}[1d]))
		unless count by ($JOB) (distributed_lock_exporter_build_info{&})`
	if job := m.config.ExporterJob; job != "" {
		expr += fmt.Sprintf(` or absent(up{&,job=%q} == 1)`, job)
	}
	return m.alert(alert{
		name: "DistributedLockExporterDown", severity: warning, hold: fiveMinutes, expr: expr,
		summary: "{{ $labels.job }}: no exporter of lock metrics answers",
		about:   "No target of the job {{ $labels.job }} has served the metrics of lockscope for five minutes, and one did within the last day. No leak is found meanwhile.",
		board:   leaksBoard,
	})
}

package rules

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// Names of recorded series, in the form level:metric:operations: the remaining labels, the metric, and the
// operations applied to it.
const (
	// Waits and Failures include Unserved as well as the acquires that ended. Waits has no elections, so that they have
	// no objectives.
	Waits      = "job_resource:distributed_lock_waits:rate5m"
	SlowWaits  = "job_resource:distributed_lock_slow_waits:rate5m"
	Failures   = "job_resource:distributed_lock_failures:rate5m"
	NodeErrors = "job_instance_backend_lock_node:distributed_lock_node_failures_per_command:ratio_rate2m"
	// NodeUsableForEach is 1 for a node that a process can use.
	NodeUsableForEach = "job_instance_backend_lock_node:distributed_lock_node_usable:min"
	// NodeUsable is the share of processes most of whose commands a node carries out.
	NodeUsable         = "job_backend_lock_node:distributed_lock_node_usable:avg"
	NodesUsable        = "job_backend:distributed_lock_nodes_usable:sum"
	NodesUsableForEach = "job_instance_backend:distributed_lock_nodes_usable:sum"
	NodeP99            = "job_backend_lock_node:distributed_lock_node_duration_seconds:p99_rate5m"
	// Findings are the findings of the process that swept last.
	Findings = "job_lock_node_class:distributed_lock_scanner_findings:max"
	// FindingKeys counts each key once, however many nodes have it.
	FindingKeys = "job_class:distributed_lock_scanner_finding_keys:max"

	// Stalled are calls in progress for which too few nodes answer. Unserved is their number of acquires a second.
	Stalled  = "job_instance_resource:distributed_lock_stalled:sum"
	Unserved = "job_resource:distributed_lock_unserved:rate5m"

	// Blind are processes whose counts of the last minutes Prometheus cannot know.
	Blind       = "job_instance:up:blind5m"
	Buckets     = "job_resource_le:distributed_lock_wait_seconds_bucket:rate5m"
	AboveLimit  = "job_resource:distributed_lock_waits_above_limit:rate5m"
	Acquired    = "job_resource:distributed_lock_acquired:rate5m"
	Lost        = "job_resource_reason:distributed_lock_lost:rate5m"
	Deadlocks   = "job_resource:distributed_lock_deadlocks:rate5m"
	Unreleased  = "job_resource:distributed_lock_release_failures:rate5m"
	Holds       = "job_resource:distributed_lock_holds:rate5m"
	Unprotected = "job_resource:distributed_lock_unprotected_runs:rate5m"
	// LastSuccess, LastSweep and ExporterSeen outlive the series they are computed from.
	LastSuccess  = "job_resource:distributed_lock_last_success:timestamp"
	LastSweep    = "job_lock_node:distributed_lock_scanner_last_success:timestamp"
	ExporterSeen = "job:distributed_lock_exporter_seen:timestamp"
	// Silence is the time since LastSuccess. UsualInterval is recorded only where it is 0.
	Silence       = "job_resource:distributed_lock_silence:seconds"
	UsualInterval = "job_resource:distributed_lock_usual_interval:seconds"
	// KnownInterval is the last UsualInterval of three days.
	KnownInterval = "job_resource:distributed_lock_known_interval:seconds"
	// NodeReached is 1 for a node that the scanner reaches or that votes for a process, else 0. Only nodes that are known
	// to form one Redlock have it: independent servers and the masters of a cluster have no quorum.
	NodeReached = "job_lock_node_group:distributed_lock_scanner_node_reached:max"

	// QuorumMissing is the number of usable lock nodes where that is less than a quorum, before the alert about it fires.
	QuorumMissing = "job_backend_group:distributed_lock_nodes_short_of_quorum:sum"
	// LongestWait is how long the oldest call in progress has waited. Candidates of an election stand by: they have none.
	LongestWait = "job_resource:distributed_lock_longest_wait:seconds"

	// Expected and Queues are objectives of single resources.
	Expected = "resource:distributed_lock_expected_interval:seconds"
	Queues   = "resource:distributed_lock_waiting_expected:bool"
)

// P99 names the series of the p99 wait in a window.
func P99(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_wait_seconds:p99_rate%s", window)
}

// FailingMinutes names the series of the number of minutes in a window with a failed acquire.
func FailingMinutes(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_failing_minutes:count%s", window)
}

// FailureRatio names the series of the share of acquires in a window that failed.
func FailureRatio(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_failures_per_acquire:ratio_rate%s", window)
}

// SlowRatio names the series of the share of acquires in a window that waited too long.
func SlowRatio(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_slow_waits_per_acquire:ratio_rate%s", window)
}

// Volume names the series of the number of acquires in a window.
func Volume(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_waits:increase%s", window)
}

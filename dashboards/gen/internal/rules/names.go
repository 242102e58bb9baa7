package rules

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// Names of recorded series. The labels that are left come first, then what is
// measured, then how: level:metric:operations.
const (
	// Waits and Failures have, beside what has ended, what is Unserved.
	Waits      = "job_resource:distributed_lock_waits:rate5m"
	SlowWaits  = "job_resource:distributed_lock_slow_waits:rate5m"
	Failures   = "job_resource:distributed_lock_failures:rate5m"
	WaitP99    = "job_resource:distributed_lock_wait_seconds:p99_rate5m"
	NodeErrors = "job_instance_backend_lock_node:distributed_lock_node_failures_per_command:ratio_rate2m"
	// NodeUsable is the share of processes for which a node carries out most commands.
	NodeUsable         = "job_backend_lock_node:distributed_lock_node_usable:avg"
	NodesUsable        = "job_backend:distributed_lock_nodes_usable:sum"
	NodesUsableForEach = "job_instance_backend:distributed_lock_nodes_usable:sum"
	NodeP99            = "job_backend_lock_node:distributed_lock_node_duration_seconds:p99_rate5m"
	// Findings are those of the process that swept last.
	Findings = "job_lock_node_class:distributed_lock_scanner_findings:max"
	// FindingKeys counts a key once, however many nodes have it.
	FindingKeys = "job_class:distributed_lock_scanner_finding_keys:max"

	// Stalled are calls under way for which too few nodes answer, Unserved what they amount to a second.
	Stalled  = "job_instance_resource:distributed_lock_stalled:sum"
	Unserved = "job_resource:distributed_lock_unserved:rate5m"

	// Blind are processes of which Prometheus cannot tell what they counted in the last minutes.
	Blind      = "job_instance:up:blind5m"
	Buckets    = "job_resource_le:distributed_lock_wait_seconds_bucket:rate5m"
	AboveLimit = "job_resource:distributed_lock_waits_above_limit:rate5m"
	Acquired   = "job_resource:distributed_lock_acquired:rate5m"
	Lost       = "job_resource_reason:distributed_lock_lost:rate5m"
	Deadlocks  = "job_resource:distributed_lock_deadlocks:rate5m"
	Unreleased = "job_resource:distributed_lock_release_failures:rate5m"
	Holds      = "job_resource:distributed_lock_holds:rate5m"
	// LastSuccess, LastSweep and ExporterSeen are remembered when what they were made of is gone.
	LastSuccess  = "job_resource:distributed_lock_last_success:timestamp"
	LastSweep    = "job_lock_node:distributed_lock_scanner_last_success:timestamp"
	ExporterSeen = "job:distributed_lock_exporter_seen:timestamp"
	// NodeReached is 1 for a node that the scanner reaches, or whose votes others get.
	NodeReached = "job_lock_node_group:distributed_lock_scanner_node_reached:max"

	// Objectives of single resources.
	Expected = "resource:distributed_lock_expected_interval:seconds"
	Queues   = "resource:distributed_lock_waiting_expected:bool"
)

// P99 names the wait that one acquire in a hundred exceeds, in a window.
func P99(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_wait_seconds:p99_rate%s", window)
}

// FailingMinutes names the number of minutes of a window in which acquires failed.
func FailingMinutes(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_failing_minutes:count%s", window)
}

// FailureRatio names the share of acquires in a window that failed.
func FailureRatio(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_failures_per_acquire:ratio_rate%s", window)
}

// SlowRatio names the share of acquires in a window that waited for too long.
func SlowRatio(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_slow_waits_per_acquire:ratio_rate%s", window)
}

// Volume names the number of acquires in a window.
func Volume(window model.Duration) string {
	return fmt.Sprintf("job_resource:distributed_lock_waits:increase%s", window)
}

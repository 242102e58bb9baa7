package rules

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// Names of recorded series. The labels that are left come first, then what is
// measured, then how: level:metric:operations.
const (
	Waits      = "job_resource:distributed_lock_waits:rate5m"
	SlowWaits  = "job_resource:distributed_lock_slow_waits:rate5m"
	Failures   = "job_resource:distributed_lock_failures:rate5m"
	WaitP99    = "job_resource:distributed_lock_wait_seconds:p99_rate5m"
	NodeErrors = "job_instance_backend_lock_node:distributed_lock_node_failures_per_command:ratio_rate5m"
	// NodeUsable is the share of processes for which a node carries out most commands.
	NodeUsable         = "job_backend_lock_node:distributed_lock_node_usable:avg"
	NodesUsable        = "job_backend:distributed_lock_nodes_usable:sum"
	NodesUsableForEach = "job_instance_backend:distributed_lock_nodes_usable:sum"
	NodeP99            = "job_backend_lock_node:distributed_lock_node_duration_seconds:p99_rate5m"
	// Findings are those of the process that swept last.
	Findings = "job_lock_node_class:distributed_lock_scanner_findings:max"
)

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

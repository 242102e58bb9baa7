// Package exporter serves what is known about locks: metrics for Prometheus, a live
// page, and health.
//
//	registry := prometheus.NewRegistry()
//	board, err := live.New()
//	...
//	locker, err := board.Wrap(redlock)
//	...
//	measured, err := instrument.Wrap(locker, instrument.WithRegisterer(registry))
//	...
//	exp, err := exporter.New(exporter.WithGatherer(registry), exporter.WithState(board))
//	...
//	srv, err := server.New(exp)
//	...
//	err = srv.Serve(ctx, server.Web{}) // until ctx ends
//
// The registry is the one that instrument was given; nothing is registered there. An
// Exporter is an http.Handler: programs that have a server already mount it there,
// see Exporter.ServeHTTP, and have no need of package server and what that imports.
//
// # Addresses
//
//	/              what there is
//	/metrics       Prometheus text, or OpenMetrics with exemplars if that is asked for
//	/healthz       200 while the process answers; looks at nothing else
//	/readyz        200, or 503 and a line for each reason not to be ready
//	/debug/locks   page, JSON and events; with WithState or WithScanner
//
// and, with WithFleet, /debug/locks/fleet: who waits where in all processes, as JSON.
//
// GET and HEAD only. Nothing here changes a lock. Names of resources and keys are
// shown: package server listens on the loopback interface unless told otherwise; who
// serves the Exporter in another way decides who may ask.
//
// # Metrics
//
// Beside those of package instrument. One series for each node, except where
// labels say otherwise.
//
//	name                                                     type       labels
//	distributed_lock_exporter_build_info                     gauge      version, revision, goversion, goos, goarch
//	distributed_lock_connections                             gauge      lock_node, backend, state
//	distributed_lock_connection_waiting                      gauge      lock_node, backend
//	distributed_lock_connection_dials_total                  counter    lock_node, backend
//	distributed_lock_connection_dial_failures_total          counter    lock_node, backend
//	distributed_lock_scanner_up                              gauge      lock_node, group
//	distributed_lock_scanner_locks                           gauge      lock_node
//	distributed_lock_scanner_leaked_locks                    gauge      lock_node
//	distributed_lock_scanner_overlong_locks                  gauge      lock_node
//	distributed_lock_scanner_oldest_leak_seconds             gauge      lock_node
//	distributed_lock_scanner_findings                        gauge      lock_node, class
//	distributed_lock_scanner_finding_keys                    gauge      class
//	distributed_lock_scanner_findings_omitted                gauge
//	distributed_lock_scanner_findings_excluded               gauge
//	distributed_lock_scanner_incomplete                      gauge      reason
//	distributed_lock_scanner_leaked_lock_info                gauge      lock_node, key
//	distributed_lock_scanner_pass_duration_seconds           histogram  lock_node
//	distributed_lock_scanner_last_success_timestamp_seconds  gauge      lock_node
//	distributed_lock_scanner_passes_total                    counter    lock_node
//	distributed_lock_scanner_pass_failures_total             counter    lock_node
//	distributed_lock_scanner_keys_examined_total             counter    lock_node
//	distributed_lock_scanner_scan_calls_total                counter    lock_node
//	distributed_lock_scanner_truncated                       gauge      lock_node
//	distributed_lock_scanner_standby                         gauge
//	distributed_lock_scanner_unelected                       gauge
//	distributed_lock_scanner_deadlocks                       gauge
//	distributed_lock_scanner_deadlocks_found_total           counter
//	distributed_lock_scanner_blocked_locks                   gauge
//	distributed_lock_scanner_waiting_calls                   gauge
//	distributed_lock_scanner_longest_wait_seconds            gauge
//	distributed_lock_scanner_waits_last_success_timestamp_seconds  gauge
//	distributed_lock_scanner_config_last_reload_successful   gauge
//	distributed_lock_scanner_config_last_reload_success_timestamp_seconds  gauge
//
// Those of connections are served with WithConnections, of engines whose drivers tell: that on Redis
// does, except for a Redis Cluster. States are busy and idle. The connection that listens for wake-ups is
// not counted.
//
// Those of the scanner come from its last sweep, not from a look at Redis during the
// scrape: distributed_lock_scanner_last_success_timestamp_seconds tells how fresh
// they are. Classes are no_ttl, long_ttl, held_too_long, orphan and foreign_type.
// The last six, with WithWaits, come from the queues on the nodes, which are read more
// often: distributed_lock_scanner_waits_last_success_timestamp_seconds tells when.
// Reasons of incomplete are those of scanner.Reasons; they have series from the first
// sweep on, and an alert on "nothing found" wants all of them to be 0.
// leaked_lock_info is off unless WithLeakedLockInfo asks for it. The metrics of promhttp
// (promhttp_metric_handler_*) and, without WithGatherer, of the Go runtime and the
// process are served too.
package exporter

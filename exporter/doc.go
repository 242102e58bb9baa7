// Package exporter serves what a process knows about its locks: metrics for Prometheus, a live page, and health
// checks.
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
// The registry is the one given to instrument; the Exporter registers nothing there. An Exporter is an http.Handler.
// A program that has a server mounts it there (see Exporter.ServeHTTP) and does not need package server or its
// dependencies.
//
// # Addresses
//
//	/                    links to the addresses below
//	/metrics             Prometheus text, or OpenMetrics with exemplars if the client asks for it
//	/healthz             200 while the process answers; checks nothing else
//	/readyz              200, or 503 and one line for each reason
//	/debug/locks         page, JSON and events; with WithState or WithScanner
//	/debug/locks/history who blocked whom in the last hour; with WithState of a live.Board
//	/debug/locks/flame   the same as chains, a profile for go tool pprof
//	/debug/locks/profile waits by stack or by holder, for go tool pprof; with WithState of a live.Board
//	/debug/locks/fleet   page and JSON: who waits for whom in all processes; with WithFleet
//
// All answer GET and HEAD only, and nothing here changes a lock. The pages show names of resources and keys. Package
// server listens on the loopback interface unless told otherwise; if you serve the Exporter yourself, restrict
// access.
//
// # Metrics
//
// These come in addition to the metrics of package instrument. Each has one series per node unless its labels say
// otherwise.
//
//	name                                                     type       labels
//	distributed_lock_exporter_build_info                     gauge      version, revision, goversion, goos, goarch
//	distributed_lock_connections                             gauge      lock_node, backend, state
//	distributed_lock_connection_waiting                      gauge      lock_node, backend
//	distributed_lock_connection_dials_total                  counter    lock_node, backend
//	distributed_lock_connection_dial_failures_total          counter    lock_node, backend
//	distributed_lock_scanner_up                              gauge      lock_node, group
//	distributed_lock_scanner_quorum_nodes                    gauge      lock_node, group
//	distributed_lock_scanner_locks                           gauge      lock_node
//	distributed_lock_scanner_leaked_locks                    gauge      lock_node
//	distributed_lock_scanner_overlong_locks                  gauge      lock_node
//	distributed_lock_scanner_oldest_leak_seconds             gauge      lock_node
//	distributed_lock_scanner_findings                        gauge      lock_node, class
//	distributed_lock_scanner_finding_keys                    gauge      class
//	distributed_lock_scanner_findings_omitted                gauge
//	distributed_lock_scanner_findings_excluded               gauge
//	distributed_lock_scanner_incomplete                      gauge      reason
//	distributed_lock_scanner_silent_locks                    gauge
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
//	distributed_lock_scanner_memory_failures_total           counter
//	distributed_lock_scanner_deadlocks                       gauge
//	distributed_lock_scanner_deadlocks_found_total           counter
//	distributed_lock_scanner_blocked_locks                   gauge
//	distributed_lock_scanner_waiting_calls                   gauge
//	distributed_lock_scanner_longest_wait_seconds            gauge
//	distributed_lock_scanner_waits_last_success_timestamp_seconds  gauge
//	distributed_lock_scanner_config_last_reload_successful   gauge
//	distributed_lock_scanner_config_last_reload_success_timestamp_seconds  gauge
//
// The metrics of connections need WithConnections and an engine whose driver reports them. The driver for Redis does,
// except for a Redis Cluster. The states are busy and idle. The connection that listens for wake-ups is not counted.
//
// The metrics of the scanner come from its last sweep, not from Redis during the scrape.
// distributed_lock_scanner_last_success_timestamp_seconds shows their age. Classes are no_ttl, long_ttl,
// held_too_long, orphan and foreign_type. incomplete has a series for each of scanner.Reasons from the first sweep on.
// Trust "nothing found" only while all of them are 0. leaked_lock_info needs WithLeakedLockInfo, because its label key
// is the name of a lock. scan_calls_total has no series for systems beside Redis, whose requests nobody counts.
//
// The metrics from deadlocks to waits_last_success, with WithWaits, come from the queues on the nodes, which are read
// more often. distributed_lock_scanner_waits_last_success_timestamp_seconds shows their age. The two about config
// come with WithReload.
//
// The metrics of promhttp (promhttp_metric_handler_*) are served too, and without WithGatherer also those of the Go
// runtime and the process.
package exporter

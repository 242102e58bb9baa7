// Package otlp sends spans to a collector as the standard OTEL_ environment variables configure it, and brings
// metrics into an OpenTelemetry pipeline. Without an endpoint, it sends nothing and runs nothing.
//
//	provider, shutdown, err := otlp.NewTracerProvider(ctx, "orders", otlp.WithLogger(logger))
//	...
//	defer shutdown(ctx)
//	locker, err := instrument.Wrap(redlock, instrument.WithTracerProvider(provider))
//
// # Variables
//
//	OTEL_EXPORTER_OTLP_ENDPOINT            http://collector:4318; for http/protobuf, /v1/traces is appended
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT     wins over it, and is used as it is
//	OTEL_EXPORTER_OTLP_PROTOCOL            http/protobuf (default) or grpc
//	OTEL_EXPORTER_OTLP_HEADERS             key=value,key=value
//	OTEL_EXPORTER_OTLP_TIMEOUT             of one export, in ms (default 10000)
//	OTEL_EXPORTER_OTLP_COMPRESSION         gzip or none (default)
//	OTEL_EXPORTER_OTLP_CERTIFICATE         file of CAs to trust
//	OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE  file; with OTEL_EXPORTER_OTLP_CLIENT_KEY
//	OTEL_EXPORTER_OTLP_INSECURE            true or false; the scheme of the endpoint is the better way
//	OTEL_TRACES_EXPORTER                   otlp (default) or none
//	OTEL_SDK_DISABLED                      true or false (default)
//	OTEL_SERVICE_NAME                      wins over the name given to NewTracerProvider
//	OTEL_RESOURCE_ATTRIBUTES               key=value,key=value
//	OTEL_TRACES_SAMPLER                    parentbased_always_on (default), parentbased_always_off,
//	                                       parentbased_traceidratio, always_on, always_off, traceidratio
//	OTEL_TRACES_SAMPLER_ARG                for the ratio: 0 to 1
//	OTEL_BSP_SCHEDULE_DELAY                ms (default 5000)
//	OTEL_BSP_EXPORT_TIMEOUT                ms (default 30000)
//	OTEL_BSP_MAX_QUEUE_SIZE                spans (default 2048); further ones are dropped
//	OTEL_BSP_MAX_EXPORT_BATCH_SIZE         spans (default 512)
//
// Each variable of OTEL_EXPORTER_OTLP_ has a variant OTEL_EXPORTER_OTLP_TRACES_ that wins over it. The SDK ignores or
// logs values that it does not understand. Here they are errors. An error names the variable, and its value unless
// that may contain a secret.
//
// # Metrics
//
// A program without Prometheus gives instrument.WithRegisterer a registry that nobody scrapes, and NewMetricProducer
// reads it for the pipeline. With WithOTelNames, its metrics have names by the rules of OpenTelemetry: dots between
// namespaces, the unit in a field of its own, and no _total. A collector that writes to Prometheus restores the
// original names, so boards and rules need no change. Labels become attributes of the same name.
//
//	in Prometheus                             in OpenTelemetry                    unit
//	distributed_lock_wait_seconds             distributed_lock.wait               s
//	distributed_lock_failures_total           distributed_lock.failures           {call}
//	distributed_lock_acquisitions_total       distributed_lock.acquisitions       {call}
//	distributed_lock_attempts_total           distributed_lock.attempts           {attempt}
//	distributed_lock_handovers_total          distributed_lock.handovers          {handover}
//	distributed_lock_deadlocks_total          distributed_lock.deadlocks          {deadlock}
//	distributed_lock_waiting                  distributed_lock.waiting            {call}
//	distributed_lock_waiting_since_timestamp_seconds  distributed_lock.waiting_since_timestamp  s
//	distributed_lock_waiting_above_objective  distributed_lock.waiting_above_objective  {call}
//	distributed_lock_waiting_without_quorum   distributed_lock.waiting_without_quorum  {call}
//	distributed_lock_wait_class_seconds_total  distributed_lock.wait_class        s
//	distributed_lock_long_waits_total         distributed_lock.long_waits         {call}
//	distributed_lock_polled_total             distributed_lock.polled             {call}
//	distributed_lock_held                     distributed_lock.held               {lease}
//	distributed_lock_held_since_timestamp_seconds  distributed_lock.held_since_timestamp  s
//	distributed_lock_hold_seconds             distributed_lock.hold               s
//	distributed_lock_validity_seconds         distributed_lock.validity           s
//	distributed_lock_extensions_total         distributed_lock.extensions         {extension}
//	distributed_lock_lost_total               distributed_lock.lost               {lease}
//	distributed_lock_release_failures_total   distributed_lock.release_failures   {release}
//	distributed_lock_unprotected_runs_total   distributed_lock.unprotected_runs   {run}
//	distributed_lock_outlived_total           distributed_lock.outlived           {lease}
//	distributed_lock_close_calls_total        distributed_lock.close_calls        {lease}
//	distributed_lock_unfenced_total           distributed_lock.unfenced           {lease}
//	distributed_lock_construct_held           distributed_lock.construct_held     {lease}
//	distributed_lock_construct_waiting        distributed_lock.construct_waiting  {call}
//	distributed_lock_construct_ended_total    distributed_lock.construct_ended    {lease}
//	distributed_lock_candidates               distributed_lock.candidates         {campaign}
//	distributed_lock_term                     distributed_lock.term
//	distributed_lock_term_since_timestamp_seconds  distributed_lock.term_since_timestamp  s
//	distributed_lock_slots                    distributed_lock.slots              {slot}
//	distributed_lock_node_duration_seconds    distributed_lock.node.duration      s
//	distributed_lock_node_failures_total      distributed_lock.node.failures      {command}
//	distributed_lock_node_restarts_total      distributed_lock.node.restarts      {restart}
//	distributed_lock_node_evictions_total     distributed_lock.node.evictions     {eviction}
//	distributed_lock_node_up                  distributed_lock.node.up
//	distributed_lock_node_usable              distributed_lock.node.usable
//	distributed_lock_node_clock_skew_seconds  distributed_lock.node.clock_skew      s
//	distributed_lock_nodes                    distributed_lock.nodes              {node}
//	distributed_lock_quorum_nodes             distributed_lock.quorum_nodes       {node}
//	distributed_lock_vote_margin              distributed_lock.vote_margin        {vote}
//	distributed_lock_resource_overflow_total  distributed_lock.resource_overflow  {call}
//	distributed_lock_label_overflow_total     distributed_lock.label_overflow     {call}
//	distributed_lock_observer_panics_total    distributed_lock.observer_panics    {panic}
//
// The metrics of the scanner and of the exporter follow the same rules: distributed_lock_scanner_oldest_leak_seconds
// is distributed_lock.scanner.oldest_leak in s.
package otlp

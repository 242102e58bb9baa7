// Package instrument measures locks. Its decorator works over any lock.Locker and records Prometheus metrics,
// OpenTelemetry spans and slog records.
//
//	locker, err := redlock.New(clients)
//	...
//	measured, err := instrument.Wrap(locker,
//		instrument.WithRegisterer(registry),
//		instrument.WithTracerProvider(provider),
//		instrument.WithLogger(logger))
//	...
//	err = lock.Do(ctx, measured, "order:1001", work)
//
// Over any Locker, the decorator measures what a caller can see: waits, holds, outcomes and losses. Attempts, votes,
// nodes, renewals and blockers need a Locker that reports to a locktrace.Trace, as engine.Engine does. The caller's own
// locktrace.Trace still receives its events.
//
// Observers cannot disturb locking. Panics in label functions, tracers and log handlers are recovered and counted.
// Logging happens in the background, and nothing here waits for the network.
//
// # Metrics
//
// The metrics are collected with or without a registerer; the Locker is a prometheus.Collector.
//
//	name                                        type       labels
//	distributed_lock_wait_seconds               histogram  resource
//	distributed_lock_failures_total             counter    resource
//	distributed_lock_acquisitions_total         counter    resource, outcome
//	distributed_lock_attempts_total             counter    resource
//	distributed_lock_handovers_total            counter    resource
//	distributed_lock_deadlocks_total            counter    resource
//	distributed_lock_waiting                    gauge      resource
//	distributed_lock_waiting_since_timestamp_seconds gauge resource
//	distributed_lock_waiting_above_objective    gauge      resource
//	distributed_lock_waiting_without_quorum     gauge      resource
//	distributed_lock_wait_class_seconds_total   counter    resource, class
//	distributed_lock_inflicted_wait_seconds_total counter  resource, holder, call_site
//	distributed_lock_long_waits_total           counter    resource
//	distributed_lock_polled_total               counter    resource
//	distributed_lock_held                       gauge      resource
//	distributed_lock_held_since_timestamp_seconds gauge    resource
//	distributed_lock_hold_seconds               histogram  resource
//	distributed_lock_validity_seconds           histogram  resource
//	distributed_lock_extensions_total           counter    resource, outcome
//	distributed_lock_lost_total                 counter    resource, reason
//	distributed_lock_release_failures_total     counter    resource
//	distributed_lock_unprotected_runs_total     counter    resource
//	distributed_lock_outlived_total             counter    resource
//	distributed_lock_close_calls_total          counter    resource
//	distributed_lock_unfenced_total             counter    resource
//	distributed_lock_construct_held             gauge      resource, kind
//	distributed_lock_construct_waiting          gauge      resource, kind
//	distributed_lock_construct_ended_total      counter    resource, kind, end
//	distributed_lock_candidates                 gauge      resource, leader
//	distributed_lock_term                       gauge      resource
//	distributed_lock_term_since_timestamp_seconds gauge    resource
//	distributed_lock_slots                      gauge      resource
//	distributed_lock_node_duration_seconds      histogram  lock_node, backend, operation
//	distributed_lock_node_failures_total        counter    lock_node, backend, operation, reason
//	distributed_lock_node_restarts_total        counter    lock_node, backend, enforced
//	distributed_lock_node_evictions_total       counter    lock_node, backend
//	distributed_lock_node_up                    gauge      lock_node, backend
//	distributed_lock_node_usable                gauge      lock_node, backend
//	distributed_lock_node_clock_skew_seconds    gauge      lock_node, backend
//	distributed_lock_nodes                      gauge      backend
//	distributed_lock_quorum_nodes               gauge      backend
//	distributed_lock_vote_margin                histogram
//	distributed_lock_resource_overflow_total    counter
//	distributed_lock_label_overflow_total       counter
//	distributed_lock_observer_panics_total      counter
//
// Label values:
//
//   - outcome of acquisitions: acquired, contended, timeout, canceled, no_quorum and error.
//   - outcome of extensions: ok, lost, error (the round could not tell) and overtaken (by a release or a hand-over).
//   - reason of losses: expired (nothing renewed the lease), extend_failed (renewals did not get through), taken_over
//     (a quorum no longer knew the lease) and max_hold. A lease that ends because its Locker is closed or its caller's
//     context ends is not lost.
//   - reason of node failures: timeout, canceled, refused (nothing listens there), dial (no connection for another
//     cause), readonly, noscript, busy (not asked), guard (may not vote) and other.
//   - kind: election, semaphore, set, read, write and other (of a later version).
//   - end: released (a leader resigned), lost, max_hold, closed (with its Locker) and canceled (with its caller's
//     context).
//   - leader: seen (the candidate waits behind a leader), none (no quorum, or the holder is no candidate) and unknown
//     (no answer yet, or the holder left no record).
//   - operation: acquire, raise, extend, release, leave (a waiter gives up its place) and subscribe.
//
// Calls that ended as canceled, refused, dial, busy or guard record no duration: they were never sent, or nobody
// waited for the answer.
//
// distributed_lock_waiting and the gauges named after it cover calls in progress: no counter contains a call that never
// returns. They are computed at collection, by the process's own clocks.
// distributed_lock_waiting_above_objective and distributed_lock_waiting_without_quorum are right even if the clocks of
// the process and Prometheus differ. WithWaitObjective sets the objective. A call has no quorum if too few nodes
// answered its last round of votes in time. Each call behind it in its process counts as well. A call that waits for a
// holder does not count. A Locker without a locktrace.Trace reports none.
//
// distributed_lock_wait_class_seconds_total divides the time of Acquire calls among the classes of the log record
// "still waiting for the lock" (see Logs). distributed_lock_inflicted_wait_seconds_total charges waits to the holder:
// by its instance, and by its call site if the holder uses lock.WithCallSites. Both include calls that have not
// returned. A wait behind several holders is divided among them, including holders in the same process. While a lock is
// reserved for the next waiter, holder is "being handed over". For a lock of another library, it is unknown. The first
// 200 holders have their own series; later ones count as other. A holder for whom nobody has waited for an hour is
// dropped (WithIdleResources).
//
// Three counters show how leases are used. distributed_lock_outlived_total counts work that went on for more than a
// second after its lease was lost: pass the lease's context on. distributed_lock_close_calls_total counts leases with
// lock.NoRenew that almost ran out: use a longer TTL, or renewal. distributed_lock_unfenced_total counts leases whose
// holder never asked for the fencing token, so that no storage can refuse its late writes. Leases that ended at
// lock.MaxHold count in distributed_lock_lost_total.
//
// Seven metrics are about constructs, such as elections and lock sets. They exist for resources that constructs use,
// and need a Locker with a locktrace.Trace. distributed_lock_construct_held counts leases that are valid at the moment
// of collection: with kind="election" it is 1 in the leading process. distributed_lock_construct_waiting counts the
// calls in distributed_lock_waiting that a construct made; the rest wait for plain locks. distributed_lock_candidates
// counts campaigns in progress. A campaign that found no quorum counts for ten more seconds, because election.Run tries
// again.
//
// All slots of a semaphore count under the semaphore's name: NAME#3 has the label of NAME. A permit may take several
// Acquire calls. distributed_lock_acquisitions_total counts one of them, and so does distributed_lock_wait_seconds:
//
//   - A call that finds its slot held does not count if its caller tries another slot. TryAcquire of a full semaphore
//     of five slots counts as contended once, without a wait.
//   - A caller that finds no free slot waits in the queue of one slot. That call records the wait, even if the caller
//     gets another slot: the call for that slot counts as acquired, without a wait.
//
// A permit's wait begins when its caller first asks for a slot.
//
// distributed_lock_term, distributed_lock_term_since_timestamp_seconds and distributed_lock_slots exist only for names
// with their own label value, because a value such as billing:* covers many terms. WithResources gives a name its own
// value.
//
// distributed_lock_node_up and distributed_lock_node_usable follow from the commands of the last two minutes, by the
// rule of decorate.NodeHealth, which all views of lockscope use. A node is down after five failures in a row. A node in
// quarantine answers but may not vote: distributed_lock_node_up is 1 and distributed_lock_node_usable is 0. Without a
// command for two minutes both are absent: use the scanner's distributed_lock_scanner_up then. If fewer nodes are
// usable than distributed_lock_quorum_nodes, no lock can be acquired.
//
// Each process counts a restart once, when it detects it, including a start shortly before its first contact. With
// enforced="true" the node does not vote while locks that it may have forgotten can be valid. With "false" it votes,
// and two leases can be valid during that time. distributed_lock_node_evictions_total counts detected evictions: keys
// that a node lost for lack of memory, without a restart.
//
// Every finished Acquire records a wait, even a failed one, unless it only looked at a slot. A NoWait call that
// finds the lock held has the outcome contended and is not a failure. All series of a resource exist from its
// first Acquire. The wait and hold histograms have exemplars with trace_id and span_id while the span is
// sampled.
//
// The label resource is bounded. Words that look like ids become "*": order:1001 counts as order:*. The same goes for
// UUIDs, ULIDs, KSUIDs, nanoids, base62 and e-mail addresses. Values after the 100th count as other, and
// distributed_lock_resource_overflow_total counts their calls. Names that no lock can have count as invalid. A value
// that was not used for an hour is dropped with its series (WithIdleResources). Names given to WithResources always
// have a value of their own.
//
// Decorators that share a registry share their metrics. The label backend, which lock.WithBackend sets, tells sets of
// nodes apart. If two sets have the same name, distributed_lock_nodes and distributed_lock_quorum_nodes show the one
// used last.
//
// WithLabels adds up to three labels to the metrics with the label resource. ContextWithLabel sets their values per
// call. They are bounded like resources, to 20 values each:
//
//	measured, err := instrument.Wrap(locker, instrument.WithLabels("tenant_tier"))
//	...
//	ctx = instrument.ContextWithLabel(ctx, "tenant_tier", "gold")
//	lease, err := measured.Acquire(ctx, "order:1001")
//
// # Spans
//
// Acquire makes a span lock.acquire (INTERNAL), Release a span lock.release, and Extend a span lock.extend. Each is a
// child of the caller's span; the last two link to lock.acquire, and are its children if their caller has no span. An
// automatic renewal also makes a span lock.extend, as a child of lock.acquire. Later spans are recorded only if the
// acquire was, or if their caller's trace is. A sampler is asked once, and sees the resource, the mode, the TTL and the
// kind. A lease that is renewed for hours makes a long trace; use WithSpanFilter or a sampler to leave out such
// resources by name.
//
// Each wait between attempts is a span lock.wait in lock.acquire. Its attribute distributed_lock.wait.kind is local
// (behind other callers of this process), holder (for the holder) or backing_off (until nodes answer again);
// distributed_lock.wait.class is its class at the beginning: one of those listed under Logs.
//
// Further attributes:
//
//   - distributed_lock.blocker.instance, on lock.wait and lock.acquire, names the other process that holds the lock.
//     lock.acquire also links to the span that acquired the lock, if that was sampled: the lock's value contains its
//     traceparent.
//   - distributed_lock.holding lists the leases that the caller holds while it waits.
//   - distributed_lock.kind, on all lock.* spans of a lock that is part of a construct, is its lock.Kind.
//   - distributed_lock.call_site is the caller's place in the code, with lock.WithCallSites.
//   - distributed_lock.deadlock.cycle is the cycle that the call closed.
//
// Commands on nodes have spans "EVALSHA lock.<operation>" (CLIENT) in lock.acquire, lock.extend or lock.release. A
// command of an acquire always has one. A command of a renewal, a release or a leave has one if it failed or took 50 ms
// (WithNodeSpans, WithSlowNode). An uncontended acquire and release on five nodes make seven spans.
//
// After the first ten attempts of an Acquire, a command or a wait has a span only if its answer or reason differs from
// the last. Without this rule, a wait of eight minutes made 7,500 spans. distributed_lock.spans_left_out on
// lock.acquire counts the spans left out.
//
// lock.acquire is not an error if a node failed but was outvoted. The commands that undo the rest of a decided acquire
// belong to that lock.acquire and are never errors. If a release is retried, its first failure is recorded. Spans
// contain no events, statements or tokens. WithSpanFilter leaves out all spans of a call. WithSpanAttributes adds
// attributes to all lock.* spans, and ContextWithAttributes to those of a call.
//
// # Logs
//
// Without WithLogger nothing is logged. With it, these records are logged:
//
//   - errors: "lease lost", and "deadlock" with the cycle;
//   - warnings: "renewal failed, lease still valid", "no quorum", "still waiting for the lock", "released a lease that
//     was already gone" and "release could not be confirmed", with trace_id, span_id and trace_flags;
//   - "node clock is ahead" and "node clock is behind" by a second or more (warnings), with the attributes node and by;
//   - "node may evict locks and does not vote" (warning), with node and error;
//   - "long wait for the lock is over" (info), with waited and outcome, after a wait of a minute or more;
//   - "node restarted" and "node evicted keys" (warnings) and "node started a short while ago" (info), each followed
//     by whether the node votes, with node, left and enforced.
//
// Records with the same message, reason, and resource label or node are logged once in five seconds (WithLogInterval).
// The next one counts those left out in left_out. Records wait in a short queue for the handler; Flush waits for them.
// Records also have the attributes of ContextWithAttributes, and the kind of a lock that is part of a construct.
// go-redis itself writes to stderr; exporter/redislog, which exporter/observe uses, sends its messages to a logger.
//
// With every handler, durations are strings like "1.5s". In records that count nodes, granted, refused, failed, unheard
// (the vote was over before they answered) and not_asked add up to nodes. needed is the quorum, and reasons has an
// entry for each node that did not grant.
//
// "still waiting for the lock" is logged after five seconds (WithLongWait), and after one, 5 and 30 minutes; for a
// candidate of an election, only once. Its attribute class says what blocks the call:
//
//	holder       the call queues behind a holder: blocker is the holder's instance, "this process", "the next
//	             waiter" (the lock is reserved for it) or "unknown" (another library's lock), and blocker_since is
//	             by the holder's clock
//	network      the nodes were asked, and no answer is known yet
//	no_quorum    too few nodes answer, or may vote
//	quarantined  only nodes in quarantine are missing for a quorum
//	backing_off  the nodes answer, but other callers got some of their votes
//
// The record has further attributes:
//
//   - waited: how long its call has waited.
//   - waiting and longest_wait: the number of calls of this process that wait for the resource, and the longest wait.
//   - ahead: the number of waiters of other processes in front.
//   - expires_in: the time until the lock expires unless it is renewed.
package instrument

// Package instrument measures a lock: a decorator over any lock.Locker, with
// Prometheus metrics, OpenTelemetry spans and slog.
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
// What a caller of the Locker could see is measured over any Locker: waits, holds,
// outcomes, losses. What only the algorithm knows (attempts, votes, nodes,
// renewals, blockers) is there if the Locker reports to a lock.Trace, as engine.Engine
// does. A lock.Trace of the caller's goes on being told.
//
// Observers cannot get in the way of locking: panics in label functions, tracers
// and log handlers are contained and counted, logging happens in the background,
// and nothing here waits for the network.
//
// # Metrics
//
// They are collected with or without a registerer; the Locker is a
// prometheus.Collector.
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
//	distributed_lock_long_waits_total           counter    resource
//	distributed_lock_held                       gauge      resource
//	distributed_lock_held_since_timestamp_seconds gauge    resource
//	distributed_lock_hold_seconds               histogram  resource
//	distributed_lock_validity_seconds           histogram  resource
//	distributed_lock_extensions_total           counter    resource, outcome
//	distributed_lock_lost_total                 counter    resource, reason
//	distributed_lock_release_failures_total     counter    resource
//	distributed_lock_node_duration_seconds      histogram  lock_node, backend, operation
//	distributed_lock_node_failures_total        counter    lock_node, backend, operation, reason
//	distributed_lock_node_restarts_total        counter    lock_node, backend, enforced
//	distributed_lock_node_evictions_total       counter    lock_node, backend
//	distributed_lock_node_up                    gauge      lock_node, backend
//	distributed_lock_node_usable                gauge      lock_node, backend
//	distributed_lock_nodes                      gauge      backend
//	distributed_lock_quorum_nodes               gauge      backend
//	distributed_lock_vote_margin                histogram
//	distributed_lock_resource_overflow_total    counter
//	distributed_lock_label_overflow_total       counter
//	distributed_lock_observer_panics_total      counter
//
// Outcomes of acquisitions are acquired, contended, timeout, canceled, no_quorum
// and error; of extensions ok, lost, error (a round that could not tell) and overtaken (by
// a release or a hand-over). Reasons of a loss are expired (nothing renewed it),
// extend_failed (renewals did not get through), taken_over (a quorum no longer knew it)
// and max_hold. A lease ended by the closing of its Locker or by its caller's context is
// not lost. Reasons of a node's failure are
// timeout, canceled, refused (nothing listens there), dial (no connection for another
// cause), readonly, noscript, busy (not asked), guard (may not vote) and other. What was
// canceled, refused, dial, busy or guard has no duration, for it was not sent or not
// waited for. Operations are acquire, raise, extend, release, leave (a waiter gives up
// its place) and subscribe.
//
// distributed_lock_waiting and its kin are of calls that have not returned, by the process's own
// clocks: a call that is never served is in no counter. They are worked out when they are
// collected; distributed_lock_waiting_above_objective and distributed_lock_waiting_without_quorum do not
// depend on how the clocks of the process and of Prometheus agree. WithWaitObjective sets the objective.
// Without a quorum is a call whose last round of votes too few nodes answered, or too late, and each call
// behind it in its process; not one that waits for a holder. A Locker without a lock.Trace has none.
//
// distributed_lock_node_up and distributed_lock_node_usable exist from the first command on whose end says
// whether the node is, not from one that was canceled, or not sent.
//
// A node in quarantine answers and may not vote: distributed_lock_node_up is 1 then and
// distributed_lock_node_usable 0. Fewer usable nodes than distributed_lock_quorum_nodes mean
// that no lock can be had.
//
// A restart is counted once by every process that notices it, also where a node had
// started a short while before it was met. With enforced="true" the node does not vote
// while locks that it may have forgotten can be valid; with "false" it votes, and two
// leases can be valid for as long as that. distributed_lock_node_evictions_total counts
// the same of a node that did not restart and has dropped keys for want of memory.
//
// A wait is observed for every finished Acquire, also for a failed one. A NoWait
// call that finds the lock held is the outcome contended, and not a failure. All
// series of a resource exist from its first Acquire on. wait and hold carry
// exemplars with trace_id and span_id while the span is sampled.
//
// The label resource is bounded. Words that look like ids become "*": order:1001
// is counted as order:*, and so are UUIDs, ULIDs, KSUIDs, nanoids, base62 and e-mail
// addresses. Further values than the 100th are counted as other, and the calls in
// distributed_lock_resource_overflow_total; names that no lock can have are counted as
// invalid and take no slot. A value that was not used for an hour is let go: its series
// are deleted, its counters with them, as at the end of a process (WithIdleResources).
// Names that are given to WithResources always have a slot and stay.
// Decorators that share a registry share their metrics. Sets of nodes are told apart by
// the label backend, the name given with lock.WithBackend; of two sets of one name,
// distributed_lock_nodes and distributed_lock_quorum_nodes are those of the last one used.
//
// WithLabels adds up to three labels to those with resource. Their values come with the calls, from
// ContextWithLabel, and are bounded like resources, to 20 each:
//
//	measured, err := instrument.Wrap(locker, instrument.WithLabels("tenant_tier"))
//	...
//	ctx = instrument.ContextWithLabel(ctx, "tenant_tier", "gold")
//	lease, err := measured.Acquire(ctx, "order:1001")
//
// # Spans
//
// lock.acquire (INTERNAL) is a child of the caller's span, and so are lock.release and the
// lock.extend of an Extend, with a link to lock.acquire; where the caller has no span they are
// children of lock.acquire, as lock.extend of automatic renewal is. Nothing that follows
// an acquire is recorded unless the acquire was, or its caller's trace is: a sampler is asked
// once, and sees the resource, the mode and the TTL. A lease that is renewed for hours makes
// a long trace: WithSpanFilter and samplers know such resources by name.
//
// Each wait between attempts is a span lock.wait in lock.acquire, with its kind in
// distributed_lock.wait.kind: local (behind others of this process), holder (for the holder)
// or backoff (for nodes to answer again). While another process holds the lock, lock.wait and
// lock.acquire name it in distributed_lock.blocker.instance, and lock.acquire links to the span
// that acquired it, whose traceparent travels in the lock's value, if that was sampled. What the
// caller holds while it waits is in distributed_lock.holding, its place in the code, with
// lock.WithCallSites, in distributed_lock.call_site, and a cycle that it closed in
// distributed_lock.deadlock.cycle.
//
// Commands on nodes are "EVALSHA lock.<operation>" (CLIENT), in lock.acquire, lock.extend or
// lock.release. Those of acquires always are spans, those of renewals, releases and leaves
// if they failed or took 50 ms (WithNodeSpans, WithSlowNode): an uncontended pair on five nodes
// makes seven spans. A node that failed and was outvoted leaves lock.acquire without an error.
// What gives back the rest of a decided acquire is in that lock.acquire and no error, whatever
// becomes of it; of a release that is sent again and again, the first failure is recorded. There are
// no span events, no statements and no tokens. WithSpanFilter leaves out all spans of a call;
// WithSpanAttributes adds to the lock.* spans, and ContextWithAttributes to those of a call.
//
// # Logs
//
// Silent without WithLogger. Told are: "lease lost" and "deadlock", with the cycle (errors); "renewal failed,
// lease still valid", "no quorum", "still waiting for the lock", "released a lease that
// was already gone" and "release could not be confirmed" (warnings), with trace_id,
// span_id and trace_flags; and of restarts "node restarted"
// (warning) or "node started a short while ago" (info), both followed by whether it
// votes, with node, left and enforced. Of the same message and reason about the same resource
// label or node, one record in five seconds is told (WithLogInterval); the next says in
// left_out how many were not. Records wait in a short queue for the handler; Flush waits
// for them. The attributes of ContextWithAttributes are in the records, too. What go-redis itself
// writes to stderr goes to a logger with exporter/redislog, which exporter/observe attaches.
//
// Durations are texts like "1.5s", whatever the handler. Where nodes are counted, granted, refused, failed,
// unheard (the vote was over before they answered) and not_asked add up to nodes; needed is the quorum, and
// reasons has an entry for each node that did not grant.
//
// "still waiting for the lock" says what keeps its call from the lock, in one word, class:
//
//	holder       it queues behind a holder: blocker is its instance, "this process", "the next waiter" for whom the
//	             lock is kept, or "unknown" for another library's; blocker_since is by the holder's clock
//	network      the nodes were asked, and nothing is known of their answers yet
//	no_quorum    too few nodes answer, or may vote
//	quarantined  there would be a quorum, but for nodes in quarantine
//	backing_off  the nodes answer, and other callers got some of them
//
// It also has waited, of its call, and of all calls of this process for the resource: waiting, how many there are,
// and longest_wait; of other processes ahead, how many waiters are in front, and expires_in, after what time the
// lock ends unless it is renewed.
package instrument

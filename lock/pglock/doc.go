// Package pglock is the driver of package lock for PostgreSQL: a lock is a row with a
// holder, an expiry and a fencing token, and each call is one function of the schema.
//
//	err := pglock.Migrate(ctx, ownersPool, pglock.DefaultSchema) // once, as the owner
//	err = pglock.Grant(ctx, ownersPool, pglock.DefaultSchema, "orders")
//
//	locker, err := pglock.New(pool) // or pglock.Open("postgres://orders@db/shop")
//	defer locker.Close()
//	err = lock.Do(ctx, locker, "order:1001", charge)
//
// # What it promises
//
// There is one server, and no quorum. While that is the same server, or one that has all
// that was committed on it, and its wall clock runs within the drift bound of the clients'
// and is not set forward, at most one lease per resource is valid at any time. As long as the
// schema is not dropped, fencing tokens are unique and increase from one acquisition to
// the next, without any assumption on time.
//
//	a crash of the server         assumed to lose nothing that it had committed: with fsync off it may.
//	                              Grants and extensions wait for the disk whatever synchronous_commit
//	                              says; releases do not: after a crash a lock may be there again, until
//	                              its TTL ends
//	failover to a standby         detected by the timeline, by whoever asks first, and told. If the
//	                              primary waits for the standby (synchronous_standby_names), nothing is
//	                              lost. If it does not, locks granted last may be: WithFailoverQuarantine
//	                              makes the new primary wait them out
//	a restored backup             the same: recovery begins a new timeline
//	two primaries (split brain)   not detected: fencing is the cluster manager's. Tokens may repeat
//	a copy of the data directory  not detected, if it is started without recovery
//	the server's clock, set       forward: leases end early for others, undetected. Back: locks that
//	                              nobody renews last longer
//	a transaction left open       in the same database keeps vacuum, and the updates that follow, from
//	                              removing what was written since: a lock that is used much gets slower
//	                              with each use until it ends. lockscope doctor says so. Transactions of
//	                              another database do no harm
//	read-only connections         refused: a standby grants nothing
//	a pooler (pgbouncer)          safe in session, transaction and statement mode, with any version: no
//	                              call needs a session, and none prepares a statement. LISTEN does not
//	                              work through it: see below
//
// # Behind pgbouncer
//
// [New] and [Open] send each call as one statement without a prepared one, whatever query
// mode the pool has: nothing has to be configured. pgx prepares statements by default, and
// fails with 42P05 or 26000 behind a pooler that gives sessions to several clients: the other
// queries of the service need default_query_exec_mode=exec, or pgbouncer 1.21 with
// max_prepared_statements. What pglock needs, by the pooler's mode:
//
//	                   session  transaction  statement
//	locks              yes      yes          yes
//	Migrate, Grant     yes      yes          no: connect to the server itself
//	ReadHeld, ...      yes      yes          yes
//	LISTEN             no: WithListener gives the server's own address, or WithoutListener has
//	                   waiters look every lock.WithPollInterval. Without either, waiters look, and
//	                   the trace of the subscription says why
//	advisory locks     yes      no           no
//
// lockscope doctor finds the pooler, and says which kind it is.
//
// Advisory locks are no substitute behind such a pooler: pg_advisory_lock belongs to a
// session, which several clients share there, so that two of them are granted the same
// lock. They have no expiry, no holder that others can read and no fencing token either.
//
// # How waiting works
//
// A refused caller takes a place in a table of waiters; a release takes the first of them
// out, keeps the lock for it for a moment and notifies it by name. It listens on a
// connection of its own. One that missed its turn looks again every
// lock.WithPollInterval.
//
// # Where what is
//
//	New, Open                 pglock.go
//	options                   options.go
//	connections               pool.go
//	a request, a function     node.go, schema/functions.sql
//	what failed               errors.go
//	being told                listen.go
//	Migrate, Grant            migrate.go, schema
//	what is forgotten         prune.go
package pglock

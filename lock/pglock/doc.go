// Package pglock stores the locks of package lock in PostgreSQL. A lock is a row with a holder,
// an expiry and a fencing token, and each call is one function of a schema.
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
// There is one server and no quorum. At most one lease per resource is valid at any time while
//   - the server is the same, or a successor with everything that was committed on it;
//   - its wall clock runs within the drift bound of the clients' clocks; and
//   - that clock is not set forward.
//
// As long as the schema is not dropped, fencing tokens are unique and increase from one
// acquisition to the next, without any assumption about time.
//
//	a crash of the server         assumed to lose nothing that was committed, which needs fsync
//	                              on. Grants and extensions wait for the disk, whatever the
//	                              value of synchronous_commit. Releases do not: after a crash a
//	                              released lock may be back until its TTL ends
//	failover to a standby         detected by the timeline with the next call, and reported. If
//	                              the primary waits for the standby (synchronous_standby_names),
//	                              nothing is lost. If not, the latest grants may be: with
//	                              WithFailoverQuarantine the new primary grants nothing until
//	                              they have expired
//	a restored backup             the same: recovery begins a new timeline
//	two primaries (split brain)   not detected: the cluster manager has to fence. Tokens may
//	                              repeat
//	a copy of the data directory  not detected if it is started without recovery
//	the server's clock is set     forward: other callers see leases end early, undetected. Back:
//	                              locks that nobody renews last longer
//	a transaction left open       in the same database: vacuum cannot remove old row versions,
//	                              so a busy lock gets slower with each use until the transaction
//	                              ends. lockscope doctor reports it. Transactions of another
//	                              database do no harm
//	read-only connections         refused: a standby grants nothing
//	a pooler (pgbouncer)          safe in session, transaction and statement mode, with any
//	                              version: no call needs a session or a prepared statement.
//	                              LISTEN does not work through a pooler: see below
//
// # Behind pgbouncer
//
// [New] and [Open] send each call as one statement that is not prepared, whatever query mode the
// pool has: you need not configure anything. pgx prepares statements by default, and fails with
// 42P05 or 26000 if a pooler gives one session to several clients. Your service's other queries
// then need default_query_exec_mode=exec, or pgbouncer 1.21 with max_prepared_statements. What
// works, by the pooler's mode:
//
//	                   session  transaction  statement
//	locks              yes      yes          yes
//	Migrate, Grant     yes      yes          no: connect to the server itself
//	ReadHeldLocks, ... yes      yes          yes
//	LISTEN             no: give the server's own address with WithListener, or let waiters poll
//	                   every lock.WithPollInterval with WithoutListener. Without either, waiters
//	                   poll, and the trace of the subscription has the reason
//	advisory locks     yes      no           no
//
// lockscope doctor detects a pooler and its mode.
//
// Advisory locks are no substitute behind a pooler in transaction mode: pg_advisory_lock belongs
// to a session, which several clients share there, so two clients get the same lock. Nor do
// advisory locks have an expiry, a holder that others can read, or a fencing token.
//
// # How waiting works
//
// A refused caller joins a table of waiters. A release removes the first waiter, reserves the
// lock for it for a moment, and notifies it by name. The waiter listens on a connection of its
// own. If it missed its turn, it looks again every lock.WithPollInterval.
//
// # Read/write locks and semaphores
//
// Readers of a lock (package rwlock) are rows of their own, each with an expiry by the server's clock. Every
// change of a lock or its readers holds the lock's row, so one transaction at a time decides. Each reader has
// a fencing token of its own, above those of all holders before it. A writer that waits is noted beside its
// place in the queue, and readers that come later are refused until it has had its turn, gave up, or has not
// asked for a while.
//
// The server knows how many slots a semaphore has (package semaphore), and compares the number in the
// transaction that grants or renews a slot. engine.Engine.Resize changes it. An advisory lock of the transaction
// orders the two.
//
// # Revoking a lease
//
// engine.Engine.Revoke marks the lock's row in one transaction: from then on no extend succeeds. The row keeps its time,
// and the next grant clears the mark. A revoke of readers marks their rows. Every role that may take locks may revoke.
// It needs the schema of this version.
//
// # Where to find what
//
//	New, Open                 pglock.go
//	options                   options.go
//	connections               pool.go
//	requests                  node.go, calls.go, schema/functions.sql
//	readers and writers       schema/functions_shared.sql
//	numbers of slots          constructs.go, schema/functions_slots.sql
//	revoked leases            revoke.go, schema/functions_revoke.sql
//	classes of errors         errors.go
//	notifications             listen.go
//	Migrate, Grant            migrate.go, schema
//	old rows                  prune.go
package pglock

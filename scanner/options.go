package scanner

import (
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// Defaults of New and Open.
const (
	// DefaultTTLLimit is the longest TTL that is not a finding. Most locks live for seconds, and a TTL above an hour
	// is often a wrong time unit. The limit does not affect the TTLs that lockscope grants.
	DefaultTTLLimit = time.Hour
	// DefaultHoldLimit is how long one holder may have a lock before that is a finding.
	DefaultHoldLimit = time.Hour
	// DefaultInterval is the time between two sweeps of Start.
	DefaultInterval = time.Minute
	// DefaultPageSize keeps a page at a millisecond or two of the server's time.
	DefaultPageSize = 500
	// DefaultPause after each page leaves most of a server's time to others. Without [WithPause], a sweep pauses for
	// less where the server allows it.
	DefaultPause = 10 * time.Millisecond
	// DefaultDeadline bounds a sweep.
	DefaultDeadline = 5 * time.Minute
	// DefaultConfirmAfter is far longer than the time between SETNX and its EXPIRE.
	DefaultConfirmAfter = 5 * time.Second
	// DefaultRepairMinAge is longer than most locks are held.
	DefaultRepairMinAge = 10 * time.Minute
	// DefaultMaxFindings bounds memory and reports.
	DefaultMaxFindings = 1000
	// DefaultMaxWatched bounds the memory for watched holders. An entry takes some 60 bytes.
	DefaultMaxWatched = 10_000
	// DefaultMaxValues bounds the cost of values: reading one takes a server twice as long as reading a TTL. A
	// million locks take 50 sweeps.
	DefaultMaxValues = 20_000
)

// AllValues removes the limit of [WithMaxValues].
const AllValues = -1

// Option configures New and Open.
type Option func(*config)

// WithPrefix sets the prefix of lock keys, instead of [lock.DefaultPrefix]. Characters with a meaning in glob patterns
// stand for themselves.
func WithPrefix(prefix string) Option { return WithPatterns(PrefixPattern(prefix)) }

// WithPatterns sets glob patterns of lock keys, such as "{app}:lock:*", instead of a prefix. Of WithPrefix and
// WithPatterns the last one wins. A sweep goes through all keys once for each pattern. A key that matches several
// patterns is one finding, and may count once for each pattern in [report.NodeReport].Locks.
func WithPatterns(globs ...string) Option {
	return func(c *config) { c.scope.Patterns = slices.Clone(globs) }
}

// PrefixPattern returns the glob pattern of the keys that begin with prefix.
func PrefixPattern(prefix string) string { return keyreader.Escape(prefix) + "*" }

// WithGroup names the servers of this Scanner in merged reports; see [report.Merge].
func WithGroup(name string) Option { return func(c *config) { c.group = name } }

// WithEmptyAllowed accepts a pattern that no key matches as complete. Without it that is a gap, [inspect.ReasonNoMatch],
// because it usually means a wrong pattern or server.
func WithEmptyAllowed() Option { return func(c *config) { c.emptyAllowed = true } }

// WithNodeNames sets the names of the nodes in reports, in their order, instead of host:port. Masters of a cluster
// keep their addresses as names, because a sweep finds them only when it runs.
func WithNodeNames(names ...string) Option { return func(c *config) { c.names = names } }

// WithReplicas reads pages from replicas. Give one client for each node, in their order, and nil for a node that is
// to be read itself. The entry of a cluster client must be nil. The Scanner treats these clients like those of the
// nodes.
//
// A replica lags behind, so a finding may appear, or a lock may be missed, a little late. A replica cannot cause a
// false alarm: the second look, and every look at a known finding, goes to the node itself.
func WithReplicas(replicas ...redis.UniversalClient) Option {
	return func(c *config) { c.replicas = replicas }
}

// WithTTLLimit sets the longest TTL that is not a [inspect.LongTTL]. It must be at least 1 ms.
func WithTTLLimit(d time.Duration) Option { return func(c *config) { c.rules.TTLLimit = d } }

// WithHoldLimit sets how long one holder may have a lock before it is [inspect.HeldTooLong]. It must be at least 1 ms.
//
// The values of lockscope and ShedLock say since when a lock is held. Other locks count from when the Scanner first
// saw their value, if the value identifies one holder; see "Holders" in the package documentation.
//
// It does not apply to leaders of elections: see [WithTermLimit].
func WithHoldLimit(d time.Duration) Option { return func(c *config) { c.rules.HoldLimit = d } }

// WithTermLimit sets how long one leader may have an election before that is [inspect.HeldTooLong]. Without it, or with
// zero, leaders are not limited: one that renews its term for days is healthy. Any other limit must be at least 1 ms.
func WithTermLimit(d time.Duration) Option { return func(c *config) { c.rules.TermLimit = d } }

// WithInterval sets the time from the end of one of Start's sweeps to the start of the next, give or take 10 % at
// random. It must be at least 1 ms.
func WithInterval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// WithPageSize sets the COUNT of SCAN: about how many keys a server examines without serving other clients in
// between, from 1 to 10,000. Without [WithPause], a sweep may use smaller pages.
func WithPageSize(n int) Option { return func(c *config) { c.scope.PageSize = n } }

// WithPause sets how long the Scanner leaves a node alone after each page. Zero makes sweeps as fast, and as heavy
// for other clients of the node, as possible.
//
// Without it, a sweep adapts to each node. Next to its pages it sends about 500 small commands a second, and compares
// their latency with the latency while it rests. It goes as fast as it can while commands take at most 1.3 times as
// long. If they take longer, it first makes pages smaller, then adds pauses. At its slowest it takes as long as with
// [DefaultPause]. Listings do not adapt: they use DefaultPause.
func WithPause(d time.Duration) Option {
	return func(c *config) { c.scope.Pause, c.scope.Adaptive = d, false }
}

// WithDeadline bounds a sweep, including its second look. The next sweep begins with what this one did not reach.
func WithDeadline(d time.Duration) Option { return func(c *config) { c.deadline = d } }

// WithConfirmAfter sets the time between the first and the second look within one sweep. A sweep with something to
// confirm lasts that much longer. Zero looks again at once, and reports a lock between its SETNX and its EXPIRE as a
// leak. It must be at most half of the deadline.
func WithConfirmAfter(d time.Duration) Option { return func(c *config) { c.confirmAfter = d } }

// WithMaxFindings sets how many findings are kept, confirmed and pending ones together: the worst. The others are read
// once and only counted, in [report.Report].Overflow and in the counts of [report.NodeReport]. n is at least 1.
func WithMaxFindings(n int) Option { return func(c *config) { c.maxFindings = n } }

// WithMaxWatched sets how many locks per node are watched for [inspect.HeldTooLong]. Only locks whose format does not
// record when they were taken need to be watched. Zero watches none. [report.NodeReport].Unwatched counts the locks
// beyond the limit.
func WithMaxWatched(n int) Option { return func(c *config) { c.maxWatched = n } }

// WithMaxValues sets how many values a sweep reads per node, besides those of locks whose TTL is a finding. On a node
// with more locks, sweeps take turns, so [inspect.HeldTooLong], [inspect.Orphan] and [inspect.ForeignType] are found
// later. [report.NodeReport].Unread counts the values not read. Use [AllValues] for a single sweep that is to read
// everything.
func WithMaxValues(n int) Option { return func(c *config) { c.maxValues = n } }

// WithChecks looks only for the given classes of findings. With [inspect.NoTTL] alone, a node whose INFO says that every
// key expires is not scanned at all. Naming [inspect.Orphan] makes a report incomplete if orphans cannot be looked for;
// see [inspect.ReasonOrphans].
func WithChecks(classes ...inspect.Class) Option {
	return func(c *config) {
		c.rules.Checks = make(map[inspect.Class]bool, len(classes))
		c.asked = c.rules.Checks
		for _, class := range classes {
			c.rules.Checks[class] = true
		}
	}
}

// WithLocker lets one of many processes sweep. Start's loop sweeps only while it holds the lock of resource, which
// must be the same in all processes. The others try to take over once per interval; see [Scanner.Start]. A call of
// Sweep does not use the lock.
func WithLocker(l lock.Locker, resource string) Option {
	return func(c *config) { c.locker, c.resource = l, resource }
}

// WithMemory keeps what sweeps know of holders and findings in a store, so that the next process does not start from
// nothing. Use a [FileStore] for a process that is restarted or runs again and again, and a [RedisStore] for
// processes that elect a leader.
//
// The store is read before the first sweep, and again by a process that was a standby. It is written when findings
// have changed, or else every few minutes, and read before that: see [ErrMemoryShared]. If the store fails, the sweep
// goes on and its error contains a [*MemoryError]. A clock that is set back between two processes changes no age in
// the store. One that is set forward adds that step to ages, as a pause between the processes would. The store contains
// names of keys, but no values or tokens.
func WithMemory(s Store) Option { return func(c *config) { c.store = s } }

// WithSilenceOf continues the silence watch of a Scanner that this one replaces, for example because a password was
// changed: see "Silence" in the documentation of the package. The watch begins anew unless both have the same nodes,
// patterns and exclusions, or the same system and rules. Close the other one before this one sweeps.
func WithSilenceOf(replaced *Scanner) Option { return func(c *config) { c.replaced = replaced } }

// WithLogger sets the logger of confirmed findings (warn), resolved findings (info), node errors (warn) and sweeps
// (debug). Without it nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithOnFinding sets a function that the sweep calls once for each finding when it is confirmed, in its own
// goroutine.
func WithOnFinding(f func(report.Finding)) Option { return func(c *config) { c.onFinding = f } }

// WithOnResolved sets a function that the sweep calls once for each confirmed finding that is gone or healed, in its
// own goroutine.
func WithOnResolved(f func(report.Finding)) Option { return func(c *config) { c.onResolved = f } }

// WithNotifier passes the report of every sweep that was not cancelled to n, after the callbacks, for at most 10 s.
// It may be given more than once, for several notifiers.
func WithNotifier(n Notifier) Option {
	return func(c *config) { c.notifiers = append(c.notifiers, n) }
}

// WithProgress sets a function that is called after each page, concurrently for different nodes. It must be fast: the
// sweep waits for it.
func WithProgress(f func(report.Progress)) Option { return func(c *config) { c.progress = f } }

// WithRepairMinAge sets how long a value must have been seen under its key before a repair may touch it. The time
// counts from the first sweep of this Scanner that found the value, by this machine's clock. The age in a value is
// only its holder's claim, and Redis resets idle time with every look. With zero, a repair acts on what one sweep has
// seen twice, and a working holder loses its lock.
func WithRepairMinAge(d time.Duration) Option { return func(c *config) { c.repairMinAge = d } }

// WithOneRedlock declares that the nodes are all the nodes of one Redlock, as its services name them. Without it the
// Scanner asks the nodes; see [inspect.ReasonOrphans]. Redlocks of fewer than three nodes, and those with a cluster or a
// Sentinel group among them, do not answer that question. If the declaration is wrong, every healthy lock is an
// [inspect.Orphan]. It also applies to other libraries: their lock on only one of these nodes is an Orphan if its value
// looks like that of a Redlock.
func WithOneRedlock() Option { return func(c *config) { c.oneRedlock = true } }

// WithPolicies judges each lock by the first policy whose pattern matches its key, and other locks by the defaults.
// It does not change which keys are read; see [WithPatterns]. Policies of several uses add up.
func WithPolicies(policies ...report.Policy) Option {
	return func(c *config) {
		for _, p := range policies {
			if p.Name == "" {
				p.Name = p.Pattern
			}
			c.rules.Policies = append(c.rules.Policies, p)
		}
	}
}

// WithExclusions keeps findings of matching keys out of reports. [report.Report].Excluded counts what each exclusion
// kept out. The report and the log name an exclusion that has ended until it is removed. If several match, the first
// that has not ended counts. Each needs a pattern, an end and a reason. Exclusions of several uses add up.
func WithExclusions(exclusions ...report.Exclusion) Option {
	return func(c *config) { c.rules.Exclusions = append(c.rules.Exclusions, exclusions...) }
}

package scanner

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/report"
)

// Defaults of New and Open.
const (
	// DefaultPrefix is below which locks are looked for.
	DefaultPrefix = lock.DefaultPrefix
	// DefaultTTLLimit is above which a TTL is a finding: most locks live for
	// seconds, and what is above an hour is often a mistaken unit. It is a policy
	// for what is found, and says nothing of the TTLs that lockscope grants.
	DefaultTTLLimit = time.Hour
	// DefaultHoldLimit is after how long with one holder a lock is a finding.
	DefaultHoldLimit = time.Hour
	// DefaultInterval is the time between two sweeps of Start.
	DefaultInterval = time.Minute
	// DefaultPageSize keeps a page at a millisecond or two of the server's time.
	DefaultPageSize = 500
	// DefaultPause after each page leaves most of a server's time to others.
	DefaultPause = 10 * time.Millisecond
	// DefaultDeadline bounds a sweep.
	DefaultDeadline = 5 * time.Minute
	// DefaultConfirmAfter is far more than SETNX and its EXPIRE are apart.
	DefaultConfirmAfter = 5 * time.Second
	// DefaultRepairMinAge is more than most locks are held for.
	DefaultRepairMinAge = 10 * time.Minute
	// DefaultMaxFindings bounds memory and reports.
	DefaultMaxFindings = 1000
	// DefaultMaxWatched bounds the memory of the watch on holders; an entry takes
	// some 60 bytes.
	DefaultMaxWatched = 10_000
	// DefaultMaxValues bounds what values cost: reading one takes a server twice
	// as long as looking at a TTL. A million locks are gone through in 50 sweeps.
	DefaultMaxValues = 20_000
)

// ClientName is what the Scanner's connections are called in CLIENT LIST.
const ClientName = node.ClientName

// Option configures New and Open.
type Option func(*config)

func newConfig(nodes int, opts []Option) (config, error) {
	c := config{
		scope: node.Scope{Patterns: []string{PrefixPattern(DefaultPrefix)}, PageSize: DefaultPageSize,
			Pause: DefaultPause},
		rules:    judge.Rules{TTLLimit: DefaultTTLLimit, HoldLimit: DefaultHoldLimit},
		interval: DefaultInterval, deadline: DefaultDeadline,
		confirmAfter: DefaultConfirmAfter,
		maxFindings:  DefaultMaxFindings, maxWatched: DefaultMaxWatched, maxValues: DefaultMaxValues,
		repairMinAge: DefaultRepairMinAge,
		audience:     audience{logger: slog.New(slog.DiscardHandler)},
		now:          time.Now,
	}
	WithChecks(report.Classes()...)(&c)
	c.orphansAsked = false
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c, c.validate(nodes)
}

// WithPrefix looks for locks below prefix instead of "lock:". Characters that mean
// something in a glob pattern stand for themselves.
func WithPrefix(prefix string) Option {
	return WithPattern(PrefixPattern(prefix))
}

// WithPattern looks for locks by a glob pattern of Redis, such as "{app}:lock:*",
// instead of below a prefix. Of WithPrefix, WithPattern and WithPatterns the last one
// counts.
func WithPattern(glob string) Option {
	return func(c *config) { c.scope.Patterns = []string{glob} }
}

// WithPatterns looks for locks by several glob patterns. A sweep goes through all keys
// once for each. A key that several match is a finding once, and may count among
// [NodeReport].Locks as often.
func WithPatterns(globs ...string) Option {
	return func(c *config) {
		c.scope.Patterns = slices.Clone(globs)
		if len(globs) == 0 {
			c.scope.Patterns = []string{""} // which is refused
		}
	}
}

// PrefixPattern is the glob pattern of the keys that begin with prefix.
func PrefixPattern(prefix string) string { return keyreader.Escape(prefix) + "*" }

// WithGroup names the servers of this Scanner where reports of several Scanners come
// together; see [MergeReports].
func WithGroup(name string) Option { return func(c *config) { c.group = name } }

// WithEmptyAllowed takes it for complete that no key matches a pattern. Otherwise that is
// [ReasonNoMatch]: it is rarely what was meant.
func WithEmptyAllowed() Option { return func(c *config) { c.emptyAllowed = true } }

// WithNodeNames names the nodes in reports, in their order, instead of host:port.
// Masters of a cluster keep their addresses for names: which of them there are is
// known only at the sweep.
func WithNodeNames(names ...string) Option { return func(c *config) { c.names = names } }

// WithReplicas reads pages from replicas: one client for each node, in their
// order, nil for a node that is to be read itself. A cluster client's entry must
// be nil. The clients are treated like those of the nodes.
//
// A replica lags behind: a finding can appear, and a lock can be missed, a little
// late. It cannot raise a false alarm, for the second look, and every look at a
// finding already known, is at the node itself.
func WithReplicas(replicas ...redis.UniversalClient) Option {
	return func(c *config) { c.replicas = replicas }
}

// WithTTLLimit sets above which TTL a lock is a [LongTTL]. At least 1 ms.
func WithTTLLimit(d time.Duration) Option { return func(c *config) { c.rules.TTLLimit = d } }

// WithHoldLimit sets after how long a holder is [HeldTooLong]. At least 1 ms.
//
// Locks of lockscope and ShedLock say since when they are held. Others are
// watched: they are held at least since the Scanner first saw that value, if the value
// tells one holder from the next. The package's doc says when it does.
func WithHoldLimit(d time.Duration) Option { return func(c *config) { c.rules.HoldLimit = d } }

// WithInterval sets the time between the ends and starts of Start's sweeps, to
// which up to 10 % are added or taken at random. At least 1 ms.
func WithInterval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// WithPageSize sets the COUNT of SCAN: about how many keys a server looks at
// without doing anything else in between. From 1 to 10,000.
func WithPageSize(n int) Option { return func(c *config) { c.scope.PageSize = n } }

// WithPause sets for how long a node is left alone after each page. Zero makes
// sweeps as fast, and as heavy for the node's other clients, as can be.
func WithPause(d time.Duration) Option { return func(c *config) { c.scope.Pause = d } }

// WithDeadline sets how long a sweep may take, its second look included. What a
// sweep has not reached by then, the next one begins with.
func WithDeadline(d time.Duration) Option { return func(c *config) { c.deadline = d } }

// WithConfirmAfter sets the grace between a first and a second look, within one
// sweep; it lasts that much longer if there is something to confirm. Zero looks
// again at once, and takes a lock between its SETNX and its EXPIRE for a leak. At
// most half of the deadline.
func WithConfirmAfter(d time.Duration) Option { return func(c *config) { c.confirmAfter = d } }

// WithMaxFindings sets how many findings are kept, confirmed and pending ones
// together: the worst. Further ones are counted only, as in [Report].Overflow, by one
// look, and among the counts of [NodeReport]. At least 1.
func WithMaxFindings(n int) Option { return func(c *config) { c.maxFindings = n } }

// WithMaxWatched sets how many locks per node, of formats that do not say since
// when they are held, are watched for [HeldTooLong]. Zero switches that off. How
// many had no place is in [NodeReport].Unwatched.
func WithMaxWatched(n int) Option { return func(c *config) { c.maxWatched = n } }

// WithMaxValues sets how many values a sweep reads per node, besides those of
// locks whose TTL is a finding. A node with more locks has its values read in
// turns, sweep by sweep, and so its [HeldTooLong], [Orphan] and [ForeignType] are
// found later; how many were not read is in [NodeReport].Unread. One sweep that is
// to see everything wants [AllValues].
func WithMaxValues(n int) Option { return func(c *config) { c.maxValues = n } }

// WithChecks looks for the given classes of findings only. If [NoTTL] is the only
// one, a node whose INFO says that every key expires is not scanned at all. Naming [Orphan]
// makes a report incomplete if it cannot be looked for; see [ReasonOrphans].
func WithChecks(classes ...Class) Option {
	return func(c *config) {
		c.rules.Checks = make(map[Class]bool, len(classes))
		c.orphansAsked = slices.Contains(classes, Orphan)
		for _, class := range classes {
			c.rules.Checks[class] = true
		}
	}
}

// WithLocker lets one of many processes sweep: Start's loop sweeps only while it
// holds resource, which must be the same in all of them. The others try to take it
// over each interval; see [Scanner.Start]. Sweep itself is not concerned.
func WithLocker(l lock.Locker, resource string) Option {
	return func(c *config) { c.locker, c.resource = l, resource }
}

// WithMemory keeps in a store what sweeps know of holders and findings, so that the next
// process does not begin anew: in a [FileStore] for one that is run again and again or
// restarted, in a [RedisStore] for those that elect a leader. It is read before the first
// sweep, and again by a process that was a standby; it is written when findings have
// changed, or else every few minutes. Failures are a [*MemoryError] of the sweep, which is
// done all the same. It has names of keys, and no value or token.
func WithMemory(s Store) Option { return func(c *config) { c.store = s } }

// WithLogger sets who is told of findings that appear (warn) and resolve (info),
// of node errors (warn) and of every sweep (debug). Without it nobody is.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithOnFinding sets a function that is called with each finding when it is
// confirmed, once, in the goroutine of the sweep.
func WithOnFinding(f func(Finding)) Option { return func(c *config) { c.onFinding = f } }

// WithOnResolved sets a function that is called with each finding that was
// confirmed and is gone or healed, once, in the goroutine of the sweep.
func WithOnResolved(f func(Finding)) Option { return func(c *config) { c.onResolved = f } }

// WithNotifier gives every report of a sweep that was not cancelled to n, after
// the callbacks, for 10 s at most. Given more than once, all are notified.
func WithNotifier(n Notifier) Option {
	return func(c *config) { c.notifiers = append(c.notifiers, n) }
}

// WithProgress sets a function that is called after each page, concurrently for
// different nodes. It must be fast: the sweep waits for it.
func WithProgress(f func(Progress)) Option { return func(c *config) { c.progress = f } }

// WithRepairMinAge sets for how long a value must have been seen under its key before it
// is repaired. That is counted from the first sweep of this Scanner that found it, by
// this machine's clock: what a value says of its age is its holder's to say, and what
// Redis calls idle time begins anew with every look. Zero repairs what one sweep has seen
// twice: a holder that is at work loses its lock.
func WithRepairMinAge(d time.Duration) Option { return func(c *config) { c.repairMinAge = d } }

// WithOneRedlock says that the nodes are all those of one Redlock, as their services name
// them. Without it that is looked up on the nodes, see [ReasonOrphans]: Redlocks of fewer
// than three nodes, and those with a cluster or a Sentinel group among them, do not tell.
// If it is not true, every healthy lock is an [Orphan].
func WithOneRedlock() Option { return func(c *config) { c.oneRedlock = true } }

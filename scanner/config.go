package scanner

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// maxPageSize keeps a page at some tens of milliseconds of the server's time.
const maxPageSize = 10_000

// AllValues given to [WithMaxValues] means no limit.
const AllValues = -1

// config is what options say.
type config struct {
	pattern      string
	more         []string // patterns besides that
	emptyAllowed bool
	group        string
	policies     []Policy
	exclusions   []Exclusion
	names        []string
	replicas     []redis.UniversalClient
	ttlLimit     time.Duration
	holdLimit    time.Duration
	interval     time.Duration
	pageSize     int
	pause        time.Duration
	deadline     time.Duration
	confirmAfter time.Duration
	maxFindings  int
	maxWatched   int
	maxValues    int
	checks       map[Class]bool
	orphansAsked bool // not only because all classes are the default
	oneRedlock   bool
	repairMinAge time.Duration
	locker       lock.Locker
	resource     string
	logger       *slog.Logger
	onFinding    func(Finding)
	onResolved   func(Finding)
	notifiers    []Notifier
	progress     func(Progress)
	store        Store

	capability keyreader.Capability // for tests: what is known of every node beforehand
	now        func() time.Time     // for tests
}

// validate returns the first thing that is wrong, for that many nodes.
func (c *config) validate(nodes int) error {
	for _, check := range []func(int) error{c.checkTimes, c.checkLimits, c.checkNodes, c.checkPolicies, c.checkRest} {
		if err := check(nodes); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
	}
	return nil
}

func (c *config) checkTimes(int) error {
	for _, t := range []struct {
		option string
		value  time.Duration
		least  time.Duration
	}{
		{"WithTTLLimit", c.ttlLimit, time.Millisecond},
		{"WithHoldLimit", c.holdLimit, time.Millisecond},
		{"WithInterval", c.interval, time.Millisecond},
		{"WithDeadline", c.deadline, time.Millisecond},
		{"WithPause", c.pause, 0},
		{"WithConfirmAfter", c.confirmAfter, 0},
		{"WithRepairMinAge", c.repairMinAge, 0},
	} {
		if t.value < t.least {
			return fmt.Errorf("%s(%v): at least %v", t.option, t.value, t.least)
		}
	}
	if c.confirmAfter > c.deadline/2 {
		return fmt.Errorf("WithConfirmAfter(%v): at most half of the deadline of a sweep, %v", c.confirmAfter, c.deadline)
	}
	return nil
}

// pagesUntil is how much of the deadline may go into pages. The rest is for the
// second look, without which a sweep that is always cut off would confirm nothing.
func (c *config) pagesUntil() time.Duration { return c.deadline - c.deadline/10 - c.confirmAfter }

func (c *config) checkLimits(int) error {
	switch {
	case c.pageSize < 1 || c.pageSize > maxPageSize:
		return fmt.Errorf("WithPageSize(%d): between 1 and %d", c.pageSize, maxPageSize)
	case c.maxFindings < 1:
		return fmt.Errorf("WithMaxFindings(%d): at least 1", c.maxFindings)
	case c.maxWatched < 0:
		return fmt.Errorf("WithMaxWatched(%d): it is negative", c.maxWatched)
	case c.maxValues < AllValues:
		return fmt.Errorf("WithMaxValues(%d): it is negative; AllValues means no limit", c.maxValues)
	}
	return nil
}

func (c *config) checkNodes(nodes int) error {
	if len(c.names) != 0 && len(c.names) != nodes {
		return fmt.Errorf("WithNodeNames: %d names for %d nodes", len(c.names), nodes)
	}
	if slices.Contains(c.names, "") {
		return fmt.Errorf("WithNodeNames: a name is empty")
	}
	if len(c.replicas) != 0 && len(c.replicas) != nodes {
		return fmt.Errorf("WithReplicas: %d replicas for %d nodes; nil stands for a node without one", len(c.replicas), nodes)
	}
	return nil
}

func (c *config) checkRest(int) error {
	if slices.Contains(c.patterns(), "") {
		return fmt.Errorf("WithPattern: it is empty; \"*\" matches every key")
	}
	if len(c.checks) == 0 {
		return fmt.Errorf("WithChecks: no class is given")
	}
	for _, class := range slices.Sorted(maps.Keys(c.checks)) {
		if !slices.Contains(report.Classes(), class) {
			return fmt.Errorf("WithChecks: there is no class %q", class)
		}
	}
	if (c.locker == nil) != (c.resource == "") {
		return fmt.Errorf("WithLocker: a Locker and a resource are needed")
	}
	if slices.Contains(c.notifiers, nil) {
		return fmt.Errorf("WithNotifier: it is nil")
	}
	return nil
}

// readsValues says whether any check needs to look into locks whose TTL is fine.
func (c *config) readsValues() bool {
	return c.checks[HeldTooLong] || c.checks[Orphan] || c.checks[ForeignType]
}

// valuesPerPass is how many locks have their values read for their own sake.
func (c *config) valuesPerPass() int {
	if !c.readsValues() {
		return 0
	}
	return c.maxValues
}

func (c *config) onlyNoTTL() bool { return len(c.checks) == 1 && c.checks[NoTTL] }

// patterns are all that locks are looked for by.
func (c *config) patterns() []string { return append([]string{c.pattern}, c.more...) }

// query describes the locks whose TTL is a finding, by the first pattern.
func (c *config) query() keyreader.Query {
	return keyreader.Query{Pattern: c.pattern, Count: c.pageSize, Limit: c.ttlLimitFor(c.pattern)}
}

package scanner

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/silence"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
	"github.com/lockscope/lockscope/scanner/report"
)

// config is what the options set.
type config struct {
	audience
	scope        keyreader.Scope
	emptyAllowed bool
	group        string
	rules        judge.Rules
	names        []string
	replicas     []redis.UniversalClient
	interval     time.Duration
	deadline     time.Duration
	confirmAfter time.Duration
	maxFindings  int
	maxWatched   int
	maxValues    int
	asked        map[inspect.Class]bool // not only because all classes are the default
	oneRedlock   bool
	repairMinAge time.Duration
	locker       lock.Locker
	resource     string
	progress     func(report.Progress)
	store        Store
	replaced     *Scanner // until the new one has its silence watch

	now func() time.Time // for tests
}

// settings are those of sweeps.
func (c *config) settings() sweep.Settings {
	return sweep.Settings{
		Scope: c.scope, Group: c.group, Rules: c.rules, Deadline: c.deadline, ConfirmAfter: c.confirmAfter,
		MaxWatched: c.maxWatched, MaxValues: c.maxValues, OneRedlock: c.oneRedlock, Asked: c.asked,
		EmptyAllowed: c.emptyAllowed, Progress: c.progress, Now: c.now, Silence: silence.New(),
	}
}

// maxLead bounds how long a hanging process keeps the others from sweeping. It outlasts several sweeps.
func (c *config) maxLead() time.Duration {
	return max(lock.DefaultMaxHold, 4*(c.deadline+c.interval))
}

// leader renews its lock early enough that MaxHold does not end it during a sweep, and that a sweep does not report
// this very lock as held too long.
func (c *config) leader() *leader {
	limit := c.maxLead()
	return &leader{locker: c.locker, resource: c.resource, maxHold: limit, renewed: min(limit, c.rules.HoldLimit) / 2}
}

// maxPageSize keeps a page at some tens of milliseconds of the server's time.
const maxPageSize = 10_000

// newConfig returns the defaults with the options on top, or why they cannot be used.
func newConfig(nodes int, opts []Option) (config, error) {
	c := config{
		scope: keyreader.Scope{Patterns: []string{PrefixPattern(lock.DefaultPrefix)}, PageSize: DefaultPageSize,
			Pause: DefaultPause, Adaptive: true},
		rules:    judge.Rules{TTLLimit: DefaultTTLLimit, HoldLimit: DefaultHoldLimit},
		interval: DefaultInterval, deadline: DefaultDeadline,
		confirmAfter: DefaultConfirmAfter,
		maxFindings:  DefaultMaxFindings, maxWatched: DefaultMaxWatched, maxValues: DefaultMaxValues,
		repairMinAge: DefaultRepairMinAge,
		audience:     audience{logger: slog.New(slog.DiscardHandler)},
		now:          time.Now,
	}
	WithChecks(inspect.Classes()...)(&c)
	c.asked = nil
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

// validate returns the first invalid setting for that many nodes.
func (c *config) validate(nodes int) error {
	for _, check := range []func(int) error{c.checkTimes, c.checkLimits, c.checkNodes,
		func(int) error { return c.rules.Validate() }, c.checkRest} {
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
		{"WithTTLLimit", c.rules.TTLLimit, time.Millisecond},
		{"WithHoldLimit", c.rules.HoldLimit, time.Millisecond},
		{"WithInterval", c.interval, time.Millisecond},
		{"WithDeadline", c.deadline, time.Millisecond},
		{"WithPause", c.scope.Pause, 0},
		{"WithConfirmAfter", c.confirmAfter, 0},
		{"WithRepairMinAge", c.repairMinAge, 0},
	} {
		if t.value < t.least {
			return fmt.Errorf("%s(%v): must be at least %v", t.option, t.value, t.least)
		}
	}
	if c.confirmAfter > c.deadline/2 {
		return fmt.Errorf("WithConfirmAfter(%v): must be at most half of the deadline, %v", c.confirmAfter,
			c.deadline)
	}
	return nil
}

func (c *config) checkLimits(int) error {
	switch term := c.rules.TermLimit; {
	case term != 0 && term < time.Millisecond:
		return fmt.Errorf("WithTermLimit(%v): must be at least %v, or 0 for no limit", term, time.Millisecond)
	case c.scope.PageSize < 1 || c.scope.PageSize > maxPageSize:
		return fmt.Errorf("WithPageSize(%d): must be between 1 and %d", c.scope.PageSize, maxPageSize)
	case c.maxFindings < 1:
		return fmt.Errorf("WithMaxFindings(%d): must be at least 1", c.maxFindings)
	case c.maxWatched < 0:
		return fmt.Errorf("WithMaxWatched(%d): must not be negative", c.maxWatched)
	case c.maxValues < AllValues:
		return fmt.Errorf("WithMaxValues(%d): must not be negative: use AllValues for no limit", c.maxValues)
	}
	return nil
}

func (c *config) checkNodes(nodes int) error {
	if len(c.names) != 0 && len(c.names) != nodes {
		return fmt.Errorf("WithNodeNames: %d names for %d nodes: give each node one name", len(c.names), nodes)
	}
	if slices.Contains(c.names, "") {
		return fmt.Errorf("WithNodeNames: a name is empty")
	}
	if len(c.replicas) != 0 && len(c.replicas) != nodes {
		return fmt.Errorf("WithReplicas: %d replicas for %d nodes: give one per node, nil for none", len(c.replicas),
			nodes)
	}
	return nil
}

func (c *config) checkRest(int) error {
	if len(c.scope.Patterns) == 0 || slices.Contains(c.scope.Patterns, "") {
		return fmt.Errorf("WithPatterns: no pattern, or an empty one: use \"*\" to match every key")
	}
	if len(c.rules.Checks) == 0 {
		return fmt.Errorf("WithChecks: no class given")
	}
	for _, class := range slices.Sorted(maps.Keys(c.rules.Checks)) {
		if !slices.Contains(inspect.Classes(), class) {
			return fmt.Errorf("WithChecks: unknown class %q", class)
		}
	}
	if (c.locker == nil) != (c.resource == "") {
		return fmt.Errorf("WithLocker: give both a Locker and a resource")
	}
	if slices.Contains(c.notifiers, nil) {
		return fmt.Errorf("WithNotifier: nil Notifier")
	}
	return nil
}

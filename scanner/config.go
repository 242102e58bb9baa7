package scanner

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
	"github.com/lockscope/lockscope/scanner/report"
)

// config is what the options set.
type config struct {
	audience
	scope        node.Scope
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
	asked        map[report.Class]bool // not only because all classes are the default
	oneRedlock   bool
	repairMinAge time.Duration
	locker       lock.Locker
	resource     string
	progress     func(report.Progress)
	store        Store

	now func() time.Time // for tests
}

// settings are those of sweeps.
func (c *config) settings() sweep.Settings {
	return sweep.Settings{
		Scope: c.scope, Group: c.group, Rules: c.rules, Deadline: c.deadline, ConfirmAfter: c.confirmAfter,
		MaxWatched: c.maxWatched, MaxValues: c.maxValues, OneRedlock: c.oneRedlock, Asked: c.asked,
		EmptyAllowed: c.emptyAllowed, Progress: c.progress, Now: c.now,
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

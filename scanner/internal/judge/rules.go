package judge

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// Rules are what locks are judged by.
type Rules struct {
	TTLLimit   time.Duration // of locks of no policy, and where a policy says nothing
	HoldLimit  time.Duration // the same
	Policies   []report.Policy
	Exclusions []report.Exclusion
	Checks     map[report.Class]bool // what is looked for
}

// PolicyOf returns what a key is judged by. Its limits are set.
func (r *Rules) PolicyOf(key string) report.Policy {
	for _, p := range r.Policies {
		if keyreader.Matches(p.Pattern, key) {
			return r.complete(p)
		}
	}
	return r.complete(report.Policy{})
}

// complete has the defaults where p says nothing.
func (r *Rules) complete(p report.Policy) report.Policy {
	if p.MaxTTL == 0 {
		p.MaxTTL = r.TTLLimit
	}
	if p.MaxHold == 0 && !p.NoTTLAllowed {
		p.MaxHold = r.HoldLimit
	}
	return p
}

// LeastHold is the shortest time that any lock may be held.
func (r *Rules) LeastHold() time.Duration {
	least := r.HoldLimit
	for _, p := range r.Policies {
		if limit := r.complete(p).MaxHold; limit > 0 {
			least = min(least, limit)
		}
	}
	return least
}

// TTLLimitFor is the lowest limit of TTLs that counts for keys of a pattern: pages say
// more of keys with a longer one.
func (r *Rules) TTLLimitFor(pattern string) time.Duration {
	if !r.Checks[report.LongTTL] {
		return keyreader.NoLimit
	}
	limit := keyreader.NoLimit
	for _, p := range r.Policies {
		limit = min(limit, r.complete(p).MaxTTL)
		if p.Pattern == pattern {
			return limit // no later one has a say
		}
	}
	return min(limit, r.TTLLimit)
}

// ReadValues says whether any check needs to look into locks whose TTL is fine.
func (r *Rules) ReadValues() bool {
	return r.Checks[report.HeldTooLong] || r.Checks[report.Orphan] || r.Checks[report.ForeignType]
}

// OnlyNoTTL says that nothing but locks without a TTL is looked for.
func (r *Rules) OnlyNoTTL() bool { return len(r.Checks) == 1 && r.Checks[report.NoTTL] }

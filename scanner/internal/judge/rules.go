package judge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// Rules are the policies, limits and exclusions that locks are judged by.
type Rules struct {
	TTLLimit   time.Duration // for locks without a policy, and policies without a limit
	HoldLimit  time.Duration // the same
	TermLimit  time.Duration // the same, for leaders of elections; zero: none
	Policies   []report.Policy
	Exclusions []report.Exclusion
	Checks     map[inspect.Class]bool // what is looked for
}

// PolicyOf returns the policy for a key, with its limits set.
func (r *Rules) PolicyOf(key string) report.Policy {
	for _, p := range r.Policies {
		if keyreader.Matches(p.Pattern, key) {
			return r.complete(p)
		}
	}
	return r.complete(report.Policy{})
}

// complete fills in the defaults where p sets nothing.
func (r *Rules) complete(p report.Policy) report.Policy {
	if p.MaxTTL == 0 {
		p.MaxTTL = r.TTLLimit
	}
	if p.MaxHold == 0 && !p.NoTTLAllowed {
		p.MaxHold = r.HoldLimit
	}
	if p.MaxTerm == 0 {
		p.MaxTerm = r.TermLimit
	}
	return p
}

// LeastHold returns the shortest limit on the duration of holds.
func (r *Rules) LeastHold() time.Duration {
	least := r.HoldLimit
	if r.TermLimit > 0 {
		least = min(least, r.TermLimit)
	}
	for _, p := range r.Policies {
		whole := r.complete(p)
		for _, limit := range []time.Duration{whole.MaxHold, whole.MaxTerm} {
			if limit > 0 {
				least = min(least, limit)
			}
		}
	}
	return least
}

// TTLLimitFor returns the lowest TTL limit for keys of a pattern. Pages describe keys with a longer TTL.
func (r *Rules) TTLLimitFor(pattern string) time.Duration {
	if !r.Checks[inspect.LongTTL] {
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

// ReadValues reports whether any check needs the values of locks whose TTL is fine.
func (r *Rules) ReadValues() bool {
	return r.Checks[inspect.HeldTooLong] || r.Checks[inspect.Orphan] || r.Checks[inspect.ForeignType]
}

// OnlyNoTTL reports whether only locks without a TTL are looked for.
func (r *Rules) OnlyNoTTL() bool { return len(r.Checks) == 1 && r.Checks[inspect.NoTTL] }

// Excludes returns the index of the exclusion that keeps a key out now, or -1.
func (r *Rules) Excludes(key string, now time.Time) int {
	for i, e := range r.Exclusions {
		if now.Before(e.Until) && keyreader.Matches(e.Pattern, key) {
			return i
		}
	}
	return -1
}

// Excluded reports what the exclusions did. findings counts what each kept out.
func (r *Rules) Excluded(findings []int, now time.Time) []report.Excluded {
	var all []report.Excluded
	for i, e := range r.Exclusions {
		all = append(all, report.Excluded{Exclusion: e, Findings: findings[i], Ended: !now.Before(e.Until)})
	}
	return all
}

// Validate returns the first error in the policies and exclusions.
func (r *Rules) Validate() error {
	seen := make(map[string]bool)
	for _, p := range r.Policies {
		switch {
		case p.Pattern == "":
			return errors.New("WithPolicies: a pattern is empty: use \"*\" to match every key")
		case p.MaxTTL != 0 && p.MaxTTL < time.Millisecond, p.MaxHold != 0 && p.MaxHold < time.Millisecond,
			p.MaxTerm != 0 && p.MaxTerm < time.Millisecond:
			return fmt.Errorf("WithPolicies: policy %s has a limit below 1ms: use 0 for the default",
				inspect.KeyText(p.Name))
		case seen[p.Name]:
			return fmt.Errorf("WithPolicies: two policies are named %s: give each its own name", inspect.KeyText(p.Name))
		}
		seen[p.Name] = true
	}
	for _, e := range r.Exclusions {
		if err := validExclusion(&e); err != nil {
			return fmt.Errorf("WithExclusions: %w", err)
		}
	}
	return nil
}

func validExclusion(e *report.Exclusion) error {
	switch {
	case e.Pattern == "":
		return errors.New("a pattern is empty")
	case e.Until.IsZero():
		return fmt.Errorf("%s has no end: set one", inspect.KeyText(e.Pattern))
	case strings.TrimSpace(e.Reason) == "":
		return fmt.Errorf("%s has no reason: give one", inspect.KeyText(e.Pattern))
	}
	return nil
}

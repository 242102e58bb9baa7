package scanner

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// WithPolicies judges locks by the first policy whose pattern matches their key, and the
// others by the defaults. What is looked at is said by [WithPatterns], not by policies.
// Given more than once, the policies add up.
func WithPolicies(policies ...Policy) Option {
	return func(c *config) {
		for _, p := range policies {
			if p.Name == "" {
				p.Name = p.Pattern
			}
			c.policies = append(c.policies, p)
		}
	}
}

// policyOf returns what a key is judged by. Its limits are set.
func (c *config) policyOf(key string) Policy {
	for _, p := range c.policies {
		if keyreader.Matches(p.Pattern, key) {
			return c.complete(p)
		}
	}
	return c.complete(Policy{})
}

// complete has the defaults where p says nothing.
func (c *config) complete(p Policy) Policy {
	if p.MaxTTL == 0 {
		p.MaxTTL = c.ttlLimit
	}
	if p.MaxHold == 0 && !p.NoTTLAllowed {
		p.MaxHold = c.holdLimit
	}
	return p
}

// leastHold is the shortest time that any lock may be held.
func (c *config) leastHold() time.Duration {
	least := c.holdLimit
	for _, p := range c.policies {
		if hold := c.complete(p).MaxHold; hold > 0 {
			least = min(least, hold)
		}
	}
	return least
}

// ttlLimitFor is the lowest limit of TTLs that counts for keys of a pattern: pages say
// more of keys with a longer one.
func (c *config) ttlLimitFor(pattern string) time.Duration {
	if !c.checks[LongTTL] {
		return keyreader.NoLimit
	}
	limit := keyreader.NoLimit
	for _, p := range c.policies {
		limit = min(limit, c.complete(p).MaxTTL)
		if p.Pattern == pattern {
			return limit // no later one has a say
		}
	}
	return min(limit, c.ttlLimit)
}

// clause names the policy in the evidence of a finding.
func clause(p *Policy) string {
	if p.Name == "" {
		return ""
	}
	return fmt.Sprintf(", which policy %s allows", KeyText(p.Name))
}

func (c *config) checkPolicies(int) error {
	seen := make(map[string]bool)
	for _, p := range c.policies {
		switch {
		case p.Pattern == "":
			return errors.New("WithPolicies: a pattern is empty; \"*\" matches every key")
		case p.MaxTTL != 0 && p.MaxTTL < time.Millisecond, p.MaxHold != 0 && p.MaxHold < time.Millisecond:
			return fmt.Errorf("WithPolicies: a limit of policy %s is less than 1ms; 0 stands for the default", KeyText(p.Name))
		case seen[p.Name]:
			return fmt.Errorf("WithPolicies: two are called %s: give them names", KeyText(p.Name))
		}
		seen[p.Name] = true
	}
	for _, e := range c.exclusions {
		if err := validExclusion(&e); err != nil {
			return fmt.Errorf("WithExclusions: %w", err)
		}
	}
	return nil
}

func validExclusion(e *Exclusion) error {
	switch {
	case e.Pattern == "":
		return errors.New("a pattern is empty")
	case e.Until.IsZero():
		return fmt.Errorf("%s has no end: say until when", KeyText(e.Pattern))
	case strings.TrimSpace(e.Reason) == "":
		return fmt.Errorf("%s has no reason: say why, for whoever reads it later", KeyText(e.Pattern))
	}
	return nil
}

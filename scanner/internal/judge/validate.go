package judge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

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
				report.KeyText(p.Name))
		case seen[p.Name]:
			return fmt.Errorf("WithPolicies: two policies are named %s: give each its own name", report.KeyText(p.Name))
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
		return fmt.Errorf("%s has no end: set one", report.KeyText(e.Pattern))
	case strings.TrimSpace(e.Reason) == "":
		return fmt.Errorf("%s has no reason: give one", report.KeyText(e.Pattern))
	}
	return nil
}

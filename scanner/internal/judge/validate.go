package judge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// Validate returns the first thing that is wrong with the policies and exclusions.
func (r *Rules) Validate() error {
	seen := make(map[string]bool)
	for _, p := range r.Policies {
		switch {
		case p.Pattern == "":
			return errors.New("WithPolicies: a pattern is empty; \"*\" matches every key")
		case p.MaxTTL != 0 && p.MaxTTL < time.Millisecond, p.MaxHold != 0 && p.MaxHold < time.Millisecond:
			return fmt.Errorf("WithPolicies: a limit of policy %s is less than 1ms; 0 stands for the default",
				report.KeyText(p.Name))
		case seen[p.Name]:
			return fmt.Errorf("WithPolicies: two are called %s: give them names", report.KeyText(p.Name))
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
		return fmt.Errorf("%s has no end: say until when", report.KeyText(e.Pattern))
	case strings.TrimSpace(e.Reason) == "":
		return fmt.Errorf("%s has no reason: say why, for whoever reads it later", report.KeyText(e.Pattern))
	}
	return nil
}

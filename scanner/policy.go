package scanner

import "github.com/lockscope/lockscope/scanner/report"

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

// WithExclusions keeps findings of matching keys out of reports. [report.Report].Excluded counts what each exclusion kept
// out. The report and the log name an exclusion that has ended until it is removed. If several match, the first that
// has not ended counts. Each needs a pattern, an end and a reason. Exclusions of several uses add up.
func WithExclusions(exclusions ...report.Exclusion) Option {
	return func(c *config) { c.rules.Exclusions = append(c.rules.Exclusions, exclusions...) }
}

package scanner

// WithPolicies judges locks by the first policy whose pattern matches their key, and the
// others by the defaults. What is looked at is said by [WithPatterns], not by policies.
// Given more than once, the policies add up.
func WithPolicies(policies ...Policy) Option {
	return func(c *config) {
		for _, p := range policies {
			if p.Name == "" {
				p.Name = p.Pattern
			}
			c.rules.Policies = append(c.rules.Policies, p)
		}
	}
}

// WithExclusions keeps findings of keys that match out of reports. Nothing vanishes: what
// each exclusion kept out is counted in [Report].Excluded, and one that has ended is named
// there, and in the log, until it is taken away. Of several that match the first one that
// has not ended counts. A pattern, an end and a reason are needed. Given more than once,
// they add up.
func WithExclusions(exclusions ...Exclusion) Option {
	return func(c *config) { c.rules.Exclusions = append(c.rules.Exclusions, exclusions...) }
}

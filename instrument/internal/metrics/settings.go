package metrics

import "time"

// Settings are what decorators on one registry must agree on.
type Settings struct {
	MaxResources  int           // values of the label resource, beside those that are reserved
	IdleResources time.Duration // after which a value is let go; zero or less: never
	WaitObjective time.Duration
	Native        bool     // histograms
	Labels        []string // that calls have, behind resource
}

package report

import (
	"time"
)

// Policy sets limits for the locks that match a pattern.
type Policy struct {
	Name    string // shown in findings; empty: the pattern
	Pattern string // a glob pattern of Redis
	Team    string // shown in findings, and the label team of alerts
	// MaxTTL is the longest TTL that is not a [inspect.LongTTL]; zero: the Scanner's limit.
	MaxTTL time.Duration
	// MaxHold is how long a holder may have a lock before it is [inspect.HeldTooLong]; zero: the Scanner's limit.
	MaxHold time.Duration
	// MaxTerm takes the place of MaxHold for the leader of an election; zero: the Scanner's limit, which can be none.
	MaxTerm time.Duration
	// NoTTLAllowed accepts locks without a TTL, which their holders remove. How long such a lock is held is checked
	// only if MaxHold is set.
	NoTTLAllowed bool
}

// Exclusion keeps known findings out of reports for a while.
type Exclusion struct {
	Pattern string    `json:"pattern"` // a glob pattern of Redis
	Until   time.Time `json:"until"`   // from then on it excludes nothing, and reports say so
	Reason  string    `json:"reason"`  // for readers of reports
}

// Excluded is what an exclusion did in one sweep.
type Excluded struct {
	Group string `json:"group,omitempty"` // of the Scanner, if it has one
	Exclusion
	// Findings counts the findings kept out, each after a single look. A key counts once for each class and node.
	Findings int  `json:"findings"`
	Ended    bool `json:"ended"` // it is over and kept nothing out: renew or remove it
}

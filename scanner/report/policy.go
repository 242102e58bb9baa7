package report

import (
	"time"
)

// Policy says what is right for the locks that match a pattern.
type Policy struct {
	Name    string // as findings have it; empty: the pattern
	Pattern string // a glob pattern of Redis
	// MaxTTL is above which a TTL is a [LongTTL]; zero: the Scanner's limit of TTLs.
	MaxTTL time.Duration
	// MaxHold is after which a holder is [HeldTooLong]; zero: the Scanner's limit.
	MaxHold time.Duration
	// NoTTLAllowed says that a lock without a TTL is fine: its holder removes it. How long
	// it may be held is asked of it only if MaxHold is set.
	NoTTLAllowed bool
}

// Exclusion keeps what is known to be wrong out of the findings for a while.
type Exclusion struct {
	Pattern string    // a glob pattern of Redis
	Until   time.Time // from then on it excludes nothing, and the report says so
	Reason  string    // for whoever reads a report
}

// Excluded is what an exclusion did in one sweep.
type Excluded struct {
	Exclusion
	Group string // of the Scanner, if it has one
	// Findings is how many it kept out, by one look: they are not looked at again. A key
	// counts once for each class and node.
	Findings int
	// Ended says that its time is over: it kept nothing out.
	Ended bool
}

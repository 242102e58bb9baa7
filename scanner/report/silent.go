package report

import "time"

// MaxSilent is how many silent locks a [Report] lists.
const MaxSilent = 20

// Silent is a lock that sweeps saw regularly and do not see any more: see "Silence" in the documentation of package
// scanner.
type Silent struct {
	Group     string    `json:"group,omitempty"` // of the Scanner, if it has one
	Key       string    `json:"key"`             // as [inspect.KeyText] writes it
	FirstSeen time.Time `json:"first_seen"`      // later by the time in which nobody swept
	LastSeen  time.Time `json:"last_seen"`
	Usual     float64   `json:"usual_seconds"` // longest pause of the one or two days before
}

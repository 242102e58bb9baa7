package redlock

import (
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// MarkerKey is where [Vouch] leaves what it says of a server, in the database of the locks.
const MarkerKey = guard.LifeKey

// Marker is what is said at [MarkerKey] of the process that has it.
type Marker int

// What a marker says.
const (
	MarkerNone     Marker = iota // there is none
	MarkerVouched                // this process was vouched for
	MarkerVouching               // a vouch for it is under way, or did not finish
	MarkerLeftover               // it is about another process: this one started later, or has another's data
)

// ReadMarker reads the value at [MarkerKey] of the process with this run_id; "" is no
// marker. It takes any value and never fails.
func ReadMarker(value, runID string) Marker {
	switch {
	case value == "":
		return MarkerNone
	case guard.VouchedFor(value, runID):
		return MarkerVouched
	case runID != "" && strings.HasPrefix(value, guard.Vouching(runID, "")):
		return MarkerVouching
	}
	return MarkerLeftover
}

// Quarantine is how long a server that restarted does not vote, where the longest TTL is
// maxTTL: until no lock that it may have forgotten can be valid.
func Quarantine(maxTTL time.Duration) time.Duration { return maxTTL + lock.Drift(maxTTL) }

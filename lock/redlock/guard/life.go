package guard

import "strings"

// LifeKey is where a server carries that somebody vouched for it, in the database of the locks.
const LifeKey = "lockscope:life"

// The states a marker at LifeKey can be in.
const (
	vouching = "vouching" // the first round: this server was there when all nodes were looked at
	vouched  = "vouched"  // the second: nothing was ever locked on it before
)

// Vouching is the marker of the first round of vouching: it counts for nothing until
// [Vouched] replaces exactly this one.
func Vouching(runID, nonce string) string { return vouching + "|" + runID + "|" + nonce }

// Vouched is the marker of a server that was new, and had lost nothing, when it was
// the process with this run id. In any other process the marker is a leftover.
func Vouched(runID, nonce string) string { return vouched + "|" + runID + "|" + nonce }

// VouchedFor reports that the marker is about the process with this run id.
func VouchedFor(life, runID string) bool {
	state, rest, _ := strings.Cut(life, "|")
	of, _, ok := strings.Cut(rest, "|")
	return ok && state == vouched && runID != "" && of == runID
}

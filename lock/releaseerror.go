package lock

import (
	"fmt"
	"strings"
)

// Outcome is the result of a release.
type Outcome string

// The outcomes of a release.
const (
	OutcomeReleased Outcome = "released"  // the nodes held the lease and released it
	OutcomeExpired  Outcome = "expired"   // the nodes no longer held it
	OutcomeNotOwner Outcome = "not_owner" // another owner holds the resource now
	OutcomeUnknown  Outcome = "unknown"   // too few nodes answered to know
)

// ReleaseError means that a release found no lease, or that its outcome is unknown. It matches
//   - [ErrNotHeld] for OutcomeExpired and OutcomeNotOwner, and whenever the lease was lost before;
//   - for OutcomeUnknown, the error of the caller's context if it ended before the release did;
//   - for OutcomeUnknown, [ErrNoQuorum] unless a quorum could still have answered when the
//     context ended.
type ReleaseError struct {
	Resource string
	Outcome  Outcome
	Lost     bool  // the lease was over before the release
	Unknown  int   // nodes that did not answer; their keys expire with the TTL at the latest
	Cut      error // error of the caller's context if it ended first; the release goes on in the background
	Errors   []*NodeError
	// Votes has one entry for each node, in the order of the engine's nodes.
	Votes NodeVotes
}

func (e *ReleaseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock: release of %q: ", e.Resource)
	switch e.Outcome {
	case OutcomeExpired:
		b.WriteString("it had already expired; the work may have outlived the lease")
	case OutcomeNotOwner:
		b.WriteString("it had expired and another owner holds it now; the work outlived the lease")
	case OutcomeUnknown:
		b.WriteString("unknown on ")
		if len(e.Votes) > 0 {
			fmt.Fprintf(&b, "%d of %d nodes", e.Unknown, len(e.Votes))
		} else {
			fmt.Fprintf(&b, "%d nodes", e.Unknown)
		}
		b.WriteString("; the lock expires there with its TTL at the latest")
		if e.Cut != nil {
			fmt.Fprintf(&b, ", and the release goes on in the background: %v", e.Cut)
		}
	}
	if len(e.Votes) > 0 {
		b.WriteString(e.Votes.Text(OpRelease))
		return b.String()
	}
	for _, err := range e.Errors {
		b.WriteString("; ")
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap returns ErrNotHeld or ErrNoQuorum or both, and the nodes' errors.
func (e *ReleaseError) Unwrap() []error {
	var all []error
	if e.Lost || e.Outcome != OutcomeUnknown {
		all = append(all, ErrNotHeld)
	}
	if e.Cut != nil {
		all = append(all, e.Cut)
	}
	if e.Outcome == OutcomeUnknown && !e.cutEarly() {
		all = append(all, ErrNoQuorum)
	}
	return append(all, asErrors(e.Errors)...)
}

// cutEarly reports that a quorum could still have answered when the caller's context ended.
func (e *ReleaseError) cutEarly() bool {
	return e.Cut != nil && len(e.Votes) > 0 && len(e.Errors) <= (len(e.Votes)-1)/2
}

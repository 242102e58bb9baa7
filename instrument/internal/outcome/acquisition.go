// Package outcome names the results of acquires, renewals, releases, leases and node commands: the label values of
// metrics, which spans and logs repeat. Each kind counts from zero.
package outcome

import "github.com/lockscope/lockscope/lock"

// Acquisition is the result of an Acquire.
type Acquisition int

// The values of the label outcome of acquisitions_total.
const (
	Acquired Acquisition = iota
	Contended
	Timeout
	Canceled
	NoQuorum
	Failed
	Acquisitions // how many there are
)

var acquisitions = [Acquisitions]string{"acquired", "contended", "timeout", "canceled", "no_quorum", "error"}

func (a Acquisition) String() string { return acquisitions[a] }

// OfAcquire classifies the error of a failed Acquire.
func OfAcquire(err error) Acquisition {
	switch lock.ReasonOf(err) {
	case lock.ReasonHeld:
		return Contended
	case lock.ReasonTimeout:
		return Timeout
	case lock.ReasonCanceled:
		return Canceled
	case lock.ReasonNoQuorum:
		return NoQuorum
	default:
		return Failed
	}
}

// Package outcome says what became of acquires, renewals, releases, leases and commands on nodes: the
// values that the labels of metrics have, and that spans and logs repeat. Each kind counts from zero.
package outcome

import "github.com/lockscope/lockscope/lock"

// Acquisition is what became of an Acquire.
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

// OfAcquire reads the error of an Acquire that failed.
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

package lanes

import "time"

// A dial that failed speaks for the next ones for as long as it took: a server that is slow to accept, or a client
// without a processor, is not asked more often than it answers.
const minReconnectPause, maxReconnectPause = time.Millisecond, time.Second

// dialRecord counts a node's dials. The mutex of the pool guards it.
type dialRecord struct {
	ended, failed uint64
	failedAt      time.Time // the last that failed
	took          time.Duration
	failure       error
}

// fail counts a dial that began then and failed.
func (r *dialRecord) fail(began time.Time, why error) {
	r.ended++
	r.failed++
	r.failedAt, r.failure = time.Now(), why
	r.took = r.failedAt.Sub(began)
}

// refusal is why a lane had better not dial right now; nil if it may.
func (r *dialRecord) refusal() error {
	if time.Since(r.failedAt) < min(max(r.took, minReconnectPause), maxReconnectPause) {
		return r.failure
	}
	return nil
}

package lanes

import "time"

// A failed dial is not repeated for as long as it took, up to a second: then a server that is slow to accept, or a client
// that gets no CPU time, does not cause more dials than it can complete. A server that refuses at once is dialled again
// after a millisecond, then after two, up to maxRefusedPause: go-redis writes each failed dial to stderr.
const minReconnectPause, maxRefusedPause, maxReconnectPause = time.Millisecond, 128 * time.Millisecond, time.Second

// dialRecord counts a node's dials. The mutex of the pool guards it.
type dialRecord struct {
	ended, failed uint64
	failedAt      time.Time     // the last that failed
	pause         time.Duration // after it
	failure       error
}

// fail counts a dial that began then and failed.
func (r *dialRecord) fail(began time.Time, why error) {
	r.ended++
	r.failed++
	r.failedAt, r.failure = time.Now(), why
	refused := min(max(2*r.pause, minReconnectPause), maxRefusedPause)
	r.pause = min(max(r.failedAt.Sub(began), refused), maxReconnectPause)
}

// succeed counts a dial that made a connection.
func (r *dialRecord) succeed() {
	r.ended++
	r.pause = 0
}

// refusal is why a lane had better not dial right now; nil if it may.
func (r *dialRecord) refusal() error {
	if time.Since(r.failedAt) < r.pause {
		return r.failure
	}
	return nil
}

package lanes

import "time"

// reconnectPause is how long a dial that failed speaks for the next.
const reconnectPause = time.Millisecond

// dialRecord counts a node's dials. The mutex of the pool guards it.
type dialRecord struct {
	ended, failed uint64
	failedAt      time.Time // the last that failed
	failure       error
}

// end counts a dial; err is why it failed.
func (r *dialRecord) end(err error) {
	r.ended++
	if err != nil {
		r.failed++
		r.failedAt, r.failure = time.Now(), err
	}
}

// refusal is why a lane had better not dial right now; nil if it may.
func (r *dialRecord) refusal() error {
	if time.Since(r.failedAt) < reconnectPause {
		return r.failure
	}
	return nil
}

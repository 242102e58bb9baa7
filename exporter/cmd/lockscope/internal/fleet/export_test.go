package fleet

import "time"

// SetClock replaces the clock of a Reader that is not in use yet.
func (r *Reader) SetClock(now func() time.Time) { r.now = now }

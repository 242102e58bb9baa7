package slowest

// Trail is the steps of a call so far. The call guards it. Its zero value is empty.
type Trail struct {
	steps *buffer // nil until the first step, and once the call is over
	over  bool
	kept  *kept // where stragglers go; nil unless the call is among the slowest
}

// End takes the steps away from the hooks. If they are wanted, late steps go to the record, which is locked until it
// is filled.
func (t *Trail) End(wanted bool) Ended {
	e := Ended{steps: t.steps}
	t.steps, t.over = nil, true
	if wanted {
		t.kept = new(kept)
		t.kept.mu.Lock()
	}
	e.kept = t.kept
	return e
}

// Ended is the trail of a call that is over.
type Ended struct {
	steps *buffer // nil if there are none
	kept  *kept   // nil if nobody wants it
}

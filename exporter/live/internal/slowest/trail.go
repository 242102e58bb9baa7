package slowest

import "slices"

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

// Over reports whether the call is.
func (t *Trail) Over() bool { return t.over }

// Steps returns a copy of the steps so far, in no order, and how many are omitted.
func (t *Trail) Steps() (steps []Step, omitted int) {
	if t.steps == nil {
		return nil, 0
	}
	return slices.Clone(t.steps.steps), t.steps.omitted
}

// Steps returns the steps, in no order, until the trail is added or forgotten, and how many are omitted.
func (e *Ended) Steps() (steps []Step, omitted int) {
	if e.steps == nil {
		return nil, 0
	}
	return e.steps.steps, e.steps.omitted
}

// Ended is the trail of a call that is over.
type Ended struct {
	steps *buffer // nil if there are none
	kept  *kept   // nil if nobody wants it
}

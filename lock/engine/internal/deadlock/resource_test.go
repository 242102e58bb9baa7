package deadlock

import "testing"

// TestALateEndLeavesTheNextHolder: the next lease of a lock, or of a permit's slot, may begin before the one before it has
// been taken out.
func TestALateEndLeavesTheNextHolder(t *testing.T) {
	var r Resource
	first, next := new(Lease), new(Lease)
	r.HeldBy(first, false)
	r.HeldBy(next, false)
	if r.NotHeldBy(first); r.Holder() != next {
		t.Error("the end of the lease before takes the next one out")
	}
	if r.NotHeldBy(next); r.Holder() != nil {
		t.Error("held after its end")
	}
}

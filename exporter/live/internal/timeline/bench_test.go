package timeline

import (
	"testing"
	"time"
)

// BenchmarkContended is what the timeline adds to a call that waits and gets its lock: it has three nodes, two attempts
// and one wait, and a lease that is released.
func BenchmarkContended(b *testing.B) {
	r, resource, steps := New(32, nobodyHere), id(1), trailOf(contendedSteps(1))
	b.ReportAllocs()
	for b.Loop() {
		now := time.Now()
		r.Contend(resource, now)
		of := &Caller{Instance: "orders/1"}
		r.Find(resource, now).AddCall(Done{Of: of, Began: now, Ended: now, Trail: steps})
		r.Find(resource, now).AddLease(of, now, now, 1, nil)
	}
}

// BenchmarkUncontended is what it adds to any other call, while another resource is recorded: a look at its end, and
// one at the end of its lease.
func BenchmarkUncontended(b *testing.B) {
	r, now := New(32, nobodyHere), time.Now()
	for name, recorded := range map[string]bool{"nothing is recorded": false, "another resource is": true} {
		if recorded {
			r.Contend(id(1), now)
		}
		of := id(2)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range 2 {
					if !r.Empty() && r.Find(of, now) != nil {
						b.Fatal("it is recorded")
					}
				}
			}
		})
	}
}

package instrument_test

import (
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestHandOver: a hand-over is counted, waited for and held like any other acquire, and its spans say that it was one.
func TestHandOver(t *testing.T) { synctest.Test(t, testHandOver) }

func testHandOver(t *testing.T) {
	s := new(spans)
	l := wrap(t, locktest.NewFakes(t, 3)(t), instrument.WithTracerProvider(s.provider()))
	first, err := l.Acquire(t.Context(), "order:1001")
	must(t, err)
	const others = 4 // the first contends, and each hands the lock over to the next
	served := make(chan error)
	for range others {
		go func() {
			lease, err := l.Acquire(t.Context(), "order:1001")
			if err == nil {
				err = lease.Release(t.Context())
			}
			served <- err
		}()
		synctest.Wait()
	}
	must(t, first.Release(t.Context()))
	for range others {
		must(t, <-served)
	}
	synctest.Wait()
	for name, want := range map[string]float64{
		"handovers_total": others - 1, "wait_seconds": others + 1, "hold_seconds": others + 1,
		"validity_seconds": others + 1,
		"held":             0, "waiting": 0, "failures_total": 0,
	} {
		if got := gather(t, l, name, "resource", "order:*"); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := gather(t, l, "acquisitions_total", "resource", "order:*", "outcome", "acquired"); got != others+1 {
		t.Errorf("%v acquired, want %v", got, others+1)
	}
	for _, name := range []string{"lock.acquire", "lock.release"} {
		handed := 0
		for _, span := range s.named(name) {
			if attrs(span)["distributed_lock.handed_over"] == "true" {
				handed++
				if name == "lock.acquire" {
					wantAttrs(t, span, "distributed_lock.outcome=acquired", "distributed_lock.attempts=0",
						"distributed_lock.votes=0")
				} else {
					wantAttrs(t, span, "distributed_lock.outcome=released", "distributed_lock.votes=0")
				}
			}
		}
		if handed != others-1 {
			t.Errorf("%d %s spans say that it was handed over, want %d", handed, name, others-1)
		}
	}
}

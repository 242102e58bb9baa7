package instrument_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestALongWaitMakesFewSpans: behind one holder for eight minutes. What changes has a span.
func TestALongWaitMakesFewSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes := locktest.NewFakes(t, 5)
		held, err := fakes(t).Acquire(t.Context(), "job")
		must(t, err)
		s := new(spans)
		l := wrap(t, fakes(t), instrument.WithTracerProvider(s.provider()))
		got := make(chan error, 1)
		go func() {
			lease, err := l.Acquire(t.Context(), "job")
			if err == nil {
				err = lease.Release(t.Context())
			}
			got <- err
		}()
		time.Sleep(8 * time.Minute)
		must(t, held.Release(t.Context()))
		must(t, <-got)
		time.Sleep(time.Second) // late answers
		byName, all, _ := s.counts()
		if all > 100 {
			t.Errorf("%d spans of one wait: %v", all, byName)
		}
		granted := 0
		for _, span := range s.named("EVALSHA lock.acquire") {
			if attrs(span)["distributed_lock.granted"] == "true" {
				granted++
			}
		}
		if granted < 3 || granted > 10 { // what comes after the vote may be cut off, and a gate may grant twice
			t.Errorf("%d spans of grants, want those of a quorum", granted)
		}
		acquire := s.named("lock.acquire")[0]
		if attrs(acquire)["distributed_lock.spans_left_out"] == "" {
			t.Errorf("nothing says that spans were left out: %v", acquire.attributes)
		}
	})
}

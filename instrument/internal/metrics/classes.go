package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// waitClasses are the values of the label class.
var waitClasses = [...]locktrace.Wait{
	locktrace.WaitHolder, locktrace.WaitNetwork, locktrace.WaitNoQuorum, locktrace.WaitQuarantined, locktrace.WaitBackingOff,
}

// classes counts the time of calls by class of wait.
type classes [len(waitClasses)]prometheus.Counter

func (c *classes) add(of locktrace.Wait, took time.Duration) {
	for i, class := range waitClasses {
		if class == of {
			c[i].Add(took.Seconds())
			return
		}
	}
}

// charge counts a stretch of a call: under its class, and against the holder that it was spent behind.
func (s *series) charge(st decorate.Stretch) {
	if st.Took <= 0 {
		return
	}
	s.classes.add(st.Class, st.Took)
	if st.Blocker != nil {
		s.blame.charge(s.label, st.Blocker, st.Took)
	}
}

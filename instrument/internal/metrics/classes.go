package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
)

// waitClasses are the values of the label class.
var waitClasses = [...]lock.WaitClass{
	lock.WaitBehindHolder, lock.WaitNetwork, lock.WaitNoQuorum, lock.WaitQuarantined, lock.WaitBackingOff,
}

// classes counts the time of calls by class of wait.
type classes [len(waitClasses)]prometheus.Counter

func (c *classes) add(of lock.WaitClass, took time.Duration) {
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

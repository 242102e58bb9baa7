package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// adoption counts uses of leases that give up what a lock promises. None is an error.
type adoption struct {
	outlived, closeCalls, unfenced prometheus.Counter
}

const (
	// stopsWithin is how long work may go on after the loss of its lease before it has outlived it: a context that
	// ends takes a moment to stop what runs under it.
	stopsWithin = time.Second
	// closeCall is the part of its TTL below which a lease without renewal came close to its end.
	closeCall = 10
)

// ReadFence records that the holder has read the fencing token.
func (c *Call) ReadFence() { c.fenceRead.Store(true) }

// Released counts how the holder has used its lease. It is called for the first release, with the validity left.
func (c *Call) Released(left time.Duration) {
	a := &c.series.adoption
	if !c.fenceRead.Load() {
		a.unfenced.Inc()
	}
	if at := c.lostAt.Load(); at != 0 {
		if time.Since(c.began)-time.Duration(at) > stopsWithin {
			a.outlived.Inc()
		}
		return
	}
	// Nothing is left of a lease that Close or MaxHold ended, perhaps long before its TTL was over.
	if left > 0 && left < time.Duration(c.unrenewed.Load())/closeCall {
		a.closeCalls.Inc()
	}
}

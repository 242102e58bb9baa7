// Package panics keeps panics of observers from reaching callers that lock.
package panics

import "github.com/prometheus/client_golang/prometheus"

// Counter counts the panics that it recovers.
type Counter struct{ n prometheus.Counter }

// NewCounter counts in n.
func NewCounter(n prometheus.Counter) Counter { return Counter{n} }

// Contain recovers a panic. It must be deferred itself.
func (c Counter) Contain() {
	if recover() != nil {
		c.n.Inc()
	}
}

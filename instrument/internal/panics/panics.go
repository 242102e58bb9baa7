// Package panics keeps the panics of those who observe from reaching those who lock.
package panics

import "github.com/prometheus/client_golang/prometheus"

// Counter counts the panics that it contains.
type Counter struct{ n prometheus.Counter }

// NewCounter counts in n.
func NewCounter(n prometheus.Counter) Counter { return Counter{n} }

// Contain must be deferred itself.
func (c Counter) Contain() {
	if recover() != nil {
		c.n.Inc()
	}
}

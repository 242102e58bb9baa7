// Package settings holds what the options of package lock say, for package engine to read:
// callers see the options, drivers what they add up to.
package settings

import "time"

// Engine is what the options of one engine have said, before anything is checked. A is
// lock.AcquireOption, which this package cannot name: package lock imports it.
type Engine[A any] struct {
	Prefix       string        // of the keys
	Instance     string        // this process, as others see it
	Backend      string        // name of the set of nodes; "" for what kind of system it is
	NodeTimeout  time.Duration // 0: it follows the TTL
	MaxTTL       time.Duration
	PollInterval time.Duration
	CallSites    bool
	Page         string   // URL where this process shows its locks
	NodeNames    []string // in the order of the nodes; empty for their own
	Clock        func() time.Duration
	Random       func(n int64) int64

	Acquire []A            // that every Acquire starts from
	Driver  []any          // functions that change the settings of the driver
	Closers []func() error // that Close calls
}

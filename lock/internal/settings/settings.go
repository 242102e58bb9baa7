// Package settings holds the values of the options of package lock, and says which texts they may be. Callers use the
// options; package engine and drivers read the values.
package settings

import "time"

// Engine is the values of one engine's options, not validated yet. A is lock.AcquireOption, which this
// package cannot import.
type Engine[A any] struct {
	Prefix       string        // of the keys
	Instance     string        // this process, as others see it
	Backend      string        // name of the set of nodes; "" for the kind of system
	NodeTimeout  time.Duration // 0: it follows the TTL
	MaxTTL       time.Duration
	PollInterval time.Duration
	CallSites    bool
	Page         string   // URL where this process shows its locks
	NodeNames    []string // in the order of the nodes; empty for the nodes' own names
	Clock        func() time.Duration
	Random       func(n int64) int64

	Acquire []A            // defaults of every Acquire
	Driver  []any          // functions that change the settings of the driver
	Closers []func() error // that Close calls
}

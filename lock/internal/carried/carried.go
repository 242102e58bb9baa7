// Package carried has what packages lock and engine exchange: context keys, an error, and why a context ended.
package carried

import (
	"context"
	"errors"
	"fmt"
)

// ErrUpgrade is the error of package rwlock: an engine sees that the caller holds the read lock.
var ErrUpgrade = errors.New("lock: a reader cannot become the writer")

// Traces is the key of the installed hooks, outer first: a []*locktrace.Trace.
type Traces struct{}

// Traceparent is the key of the caller's W3C traceparent: a string.
type Traceparent struct{}

// Lease is the key of the innermost lease that the context descends from.
type Lease struct{}

// Ended is the cause of a context that only ends because another one did: why that one ended.
type Ended struct{ By error }

func (e Ended) Error() string { return e.By.Error() }

// Unwrap returns why the other context ended.
func (e Ended) Unwrap() error { return e.By }

// Why is why ctx ended, with its cause if somebody gave one. If it only ended because another context did, it is why that
// one ended: a deadline there is no cancellation here.
func Why(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if other, ok := cause.(Ended); ok {
		return other.By
	}
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

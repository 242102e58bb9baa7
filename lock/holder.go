package lock

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Holder is what a lock's value says about the process that wrote it.
type Holder struct {
	Instance    string    // host/pid, or the name given with [WithInstance]
	Since       time.Time // when the attempt began, by the holder's clock, to the millisecond
	Traceparent string    // W3C trace context of the acquiring call; empty if none
	CallSite    string    // folder/file.go:line of that call; empty without [WithCallSites]
	Page        string    // where the process shows its locks; empty without [WithPage]
}

// WithTraceparent returns a context whose acquisitions write the given W3C
// traceparent into the lock, so that whoever is refused can link to this trace.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, carried.Traceparent{}, traceparent)
}

package instrument

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock/decorate"
)

// renewal is one round of renewal: the context of an Extend, or the value that
// finds the span of an automatic one.
type renewal struct {
	decorate.CallContext
	call   *call
	span   trace.Span // nil if the round is not traced
	byHand bool       // a caller's Extend, which ends the span itself
}

type renewalKey struct{ owner *observers }

// newRenewal is a round of the lease of a call.
func newRenewal(ctx context.Context, c *call) *renewal {
	return &renewal{CallContext: decorate.CallContext{Context: ctx, Call: &c.Call}, call: c}
}

// Value implements context.Context.
func (r *renewal) Value(key any) any {
	if key == (renewalKey{r.call.observers}) {
		return r
	}
	return r.CallContext.Value(key)
}

// renewalOf is nil outside of a round that o was told of.
func renewalOf(ctx context.Context, o *observers) *renewal {
	r, _ := ctx.Value(renewalKey{o}).(*renewal)
	return r
}

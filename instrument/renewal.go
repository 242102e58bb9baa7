package instrument

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock/decorate"
)

// renewal is one round of renewal: the context of an Extend, or the value that finds the span of an automatic round.
type renewal struct {
	decorate.CallContext
	call   *call
	span   trace.Span // nil if the round is not traced
	byHand bool       // a caller's Extend, which ends the span itself
}

type renewalKey struct{ owner *observers }

// newRenewal makes a round for the lease of a call.
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

// renewalOf returns nil outside the rounds of o.
func renewalOf(ctx context.Context, o *observers) *renewal {
	r, _ := ctx.Value(renewalKey{o}).(*renewal)
	return r
}

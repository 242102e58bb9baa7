// Package text prepares names, errors, traces and pages for a State. They may come from anybody.
package text

import (
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// The longest texts of a State, in bytes. Names come from anybody.
const (
	maxResource = 2 * lock.MaxResourceLength // other Lockers may allow more
	maxName     = 256
	maxError    = 1024
	maxDetail   = 256
)

// clip copies s, so that the original can be freed, and ends it with an ellipsis if it is longer than limit.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Resource is the name of a resource.
func Resource(name string) string { return clip(name, maxResource) }

// Name is any other name: an instance, a set of nodes, a place in the code.
func Name(name string) string { return clip(name, maxName) }

// Error is the text of an error, whose method may panic.
func Error(err error) string { return errorText(err, maxError) }

// Detail is the short text of an error.
func Detail(err error) string { return errorText(err, maxDetail) }

// Contain keeps a panic in an observed value, such as a caller's span or error, from callers that lock. It must be
// deferred itself.
func Contain() { _ = recover() }

func errorText(err error, limit int) (text string) {
	text = "an error whose text is not available"
	defer Contain()
	return clip(err.Error(), limit)
}

// Holder names the holder that a refusal named.
func Holder(held *lock.HeldError) string {
	switch {
	case held.HandedOver:
		return "being handed to the next waiter"
	default:
		return "held by " + state.HolderName(clip(held.Holder.Instance, maxName), held.Remaining < 0)
	}
}

// TraceID is empty without a trace.
func TraceID(id trace.TraceID) string {
	if !id.IsValid() {
		return ""
	}
	return id.String()
}

// TraceOf is the trace id of a W3C traceparent, or "" for an invalid one: anybody who can write to Redis can write
// anything.
func TraceOf(traceparent string) string {
	const version, id = 3, 32
	if len(traceparent) != 55 || traceparent[2] != '-' || traceparent[version+id] != '-' {
		return ""
	}
	raw, err := hex.DecodeString(traceparent[version : version+id])
	if err != nil {
		return ""
	}
	return TraceID(trace.TraceID(raw))
}

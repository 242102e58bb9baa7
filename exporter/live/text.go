package live

import (
	"encoding/hex"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// The longest texts of a State, in bytes. Names come from anybody.
const (
	maxResource = 2 * lock.MaxResourceLength // other Lockers may allow more
	maxName     = 256
	maxError    = 1024
	maxDetail   = 256
)

// outcomeAcquired is of an Acquisition that succeeded.
const outcomeAcquired = "acquired"

// clip copies s, so that what it was cut from can go, and ends it with an ellipsis
// if it is longer than limit.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// errorText is the text of somebody's error, who may not be able to tell it.
func errorText(err error, limit int) (text string) {
	text = "an error that cannot be told"
	defer contain()
	return clip(err.Error(), limit)
}

func holderText(held *lock.HeldError) string {
	switch {
	case held.HandedOver:
		return "being handed to the next waiter"
	case held.Holder.Instance != "":
		return "held by " + clip(held.Holder.Instance, maxName)
	default:
		return "held by an unknown owner"
	}
}

func attemptName(n int) string { return "attempt " + strconv.Itoa(n) }

// traceText is empty without a trace.
func traceText(id trace.TraceID) string {
	if !id.IsValid() {
		return ""
	}
	return id.String()
}

// traceOf is the trace id of a W3C traceparent, and empty for what is none: whoever
// can write to Redis can say anything.
func traceOf(traceparent string) string {
	const version, id = 3, 32
	if len(traceparent) != 55 || traceparent[2] != '-' || traceparent[version+id] != '-' {
		return ""
	}
	raw, err := hex.DecodeString(traceparent[version : version+id])
	if err != nil {
		return ""
	}
	return traceText(trace.TraceID(raw))
}

// Package text identifies resources, and prepares names, errors, traces and pages for a State. They may come from
// anybody.
package text

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
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
	if held.HandedOver {
		return "being handed to the next waiter"
	}
	return "held by " + state.HolderName(clip(held.Holder.Instance, maxName), held.Remaining < 0)
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

// traceIDHere is the placeholder of a trace id in a URL.
const traceIDHere = "{traceID}"

const maxURL = 1024

// ValidTraceURL requires a fixed host, so that a trace id cannot choose where a link leads.
func ValidTraceURL(template string) bool {
	host, rest, _ := strings.Cut(template, traceIDHere)
	_, err := url.Parse(host + rest)
	before, beforeErr := url.Parse(host)
	return err == nil && beforeErr == nil && len(template) <= maxURL && strings.Count(template, traceIDHere) == 1 &&
		isWeb(before) && strings.Contains(strings.TrimPrefix(host, before.Scheme+"://"), "/")
}

// isWeb reports whether a URL can be opened and contains no password.
func isWeb(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// PageOf returns the page of another process, or "" for an invalid one: anybody who can write to Redis can write
// anything.
func PageOf(page string) string {
	u, err := url.Parse(page)
	if err != nil || !isWeb(u) || len(page) > maxURL {
		return ""
	}
	return u.String()
}

// Votes is what the nodes did for an attempt without a quorum, in short: each node that did not vote is named once, and
// not why. It is "" for any other error.
func Votes(err error) (votes string) {
	defer Contain()
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok {
		return ""
	}
	parts := []string{fmt.Sprintf("%d of %d agreed, %d refused", e.Granted, e.Nodes, e.Refused)}
	var silent, barred, failed []string
	for _, n := range e.Errors {
		switch class := driver.ClassOf(n.Err); {
		case class.Silent(), class == driver.Busy:
			silent = append(silent, n.Node)
		case class.Barred():
			barred = append(barred, n.Node)
		default:
			failed = append(failed, n.Node)
		}
	}
	parts = appendCount(parts, len(silent), "did not answer", silent...)
	parts = appendCount(parts, len(barred), "may not vote", barred...)
	parts = appendCount(parts, len(failed), "failed", failed...)
	parts = appendCount(parts, e.Count(lock.VerdictNotAsked), "not asked")
	parts = appendCount(parts, e.Count(lock.VerdictUnheard), "not waited for")
	return clip(strings.Join(parts, ", "), maxError)
}

func appendCount(parts []string, n int, did string, names ...string) []string {
	if n == 0 {
		return parts
	}
	part := fmt.Sprintf("%d %s", n, did)
	if len(names) > 0 {
		part += " (" + strings.Join(names, ", ") + ")"
	}
	return append(parts, part)
}

// ID is a resource of one set of nodes. On another set the name means another lock.
type ID struct{ Backend, Resource string }

// Key is the name of the ID in a graph, whose resources have only a name. Either part may be any text.
func (of ID) Key() string {
	return strconv.Itoa(len(of.Backend)) + ":" + of.Backend + of.Resource
}

// IDOf reads a key.
func IDOf(key string) ID {
	length, rest, _ := strings.Cut(key, ":")
	n, _ := strconv.Atoi(length)
	return ID{rest[:n], rest[n:]}
}

// KeyedAll returns leases with their names in the graph.
func KeyedAll(held []lock.HeldLease) []lock.HeldLease {
	all := make([]lock.HeldLease, len(held))
	for i, h := range held {
		all[i] = lock.HeldLease{Resource: ID{h.Backend, h.Resource}.Key(), Fence: h.Fence}
	}
	return all
}

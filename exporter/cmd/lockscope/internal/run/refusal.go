package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// notAcquired gives the failure to acquire its exit status, and one line.
func (j *job) notAcquired(err error) error {
	if signalled, ok := errors.AsType[*child.SignalError](context.Cause(j.signals.Context())); ok {
		return &ui.StatusError{Status: child.StatusOf(signalled.Signal), Err: j.trouble.Stopped(signalled, j.name, failure)}
	}
	if lock.ReasonOf(err) == lock.ReasonInvalid || errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if text := refusal(err, time.Now()); text != "" {
		if j.quiet && !forever(err) {
			return &ui.StatusError{Status: j.conflict}
		}
		if j.wait.Limit > 0 {
			text = fmt.Sprintf("gave up after %v: %s", j.wait.Limit, text)
		}
		return &ui.StatusError{Status: j.conflict, Err: errors.New(text)}
	}
	return &ui.StatusError{Status: servers.ExitNoLock, Err: err}
}

// forever reports whether the lock is held without a TTL: no later run gets it either.
func forever(err error) bool {
	held, ok := errors.AsType[*lock.HeldError](err)
	return ok && held.Remaining < 0
}

// failure is why a try failed, in one line.
func failure(err error) string {
	if text := refusal(err, time.Now()); text != "" {
		return text
	}
	return err.Error()
}

// sayWaiting says what the command waits for.
func (j *job) sayWaiting(last error) {
	switch {
	case last == nil:
		j.say(fmt.Sprintf("waiting for %q: no server has answered yet", j.name))
	case !j.quiet || refusal(last, time.Now()) == "" || forever(last):
		j.say("waiting: " + failure(last))
	}
}

// refusal says who holds the lock, and since when; "" if it is not known to be held.
func refusal(err error, now time.Time) string {
	if full, ok := errors.AsType[*lock.FullError](err); ok {
		var holders []string
		for _, held := range full.Held {
			holders = append(holders, holderText(held, now))
		}
		slices.Sort(holders)
		return fmt.Sprintf("all %d slots of %q are held: %s", full.Slots, full.Name,
			strings.Join(slices.Compact(holders), ", "))
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		if held.Holder.Done {
			return fmt.Sprintf("%q is kept for the minimum hold of %s; it ends in %v", held.Resource, holderText(held, now),
				held.Remaining.Round(100*time.Millisecond))
		}
		return fmt.Sprintf("%q is held by %s%s", held.Resource, holderText(held, now), expiry(held))
	}
	return ""
}

// holderText is "web-1/42 since 2026-11-22T15:45:44Z (3m12s)".
func holderText(held *lock.HeldError, now time.Time) string {
	h := held.Holder
	switch {
	case held.HandedOver:
		return "the next waiter, to whom it is being handed"
	case h.Instance == "":
		return state.Unnamed
	}
	text := h.Instance + " since " + h.Since.UTC().Format(time.RFC3339)
	reason := ""
	if h.Reason != "" {
		reason = ", reason: " + h.Reason
	}
	if age := now.Sub(h.Since).Round(time.Second); age > 0 {
		text += fmt.Sprintf(" (%v)", age)
	}
	return text + reason
}

func expiry(held *lock.HeldError) string {
	switch {
	case held.Remaining > 0:
		return fmt.Sprintf("; it ends in %v unless renewed", held.Remaining.Round(100*time.Millisecond))
	case held.Remaining < 0:
		return fmt.Sprintf("; it never ends: delete the key %q once you know that its owner is gone", held.Key)
	}
	return ""
}

package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// A person at a terminal wonders sooner than the reader of a log.
const (
	patience           = 5 * time.Second
	patienceOfTerminal = time.Second
)

// Trouble knows what an acquisition of this command waits for, and why its lease was not renewed. It is safe for
// concurrent use.
type Trouble struct {
	mu      sync.Mutex
	last    error // of a try to acquire
	over    bool
	renewal error // nil after a round that renewed the lease
}

// Watch has say called once with what the acquisitions in the returned context wait for, if they are not over soon:
// nil if no server has answered yet. The caller ends it with stop, after which say is not called.
func (t *Trouble) Watch(ctx context.Context, a *ui.App, say func(error)) (_ context.Context, stop func()) {
	after := patience
	if ui.Terminal(a.ErrOut) > 0 {
		after = patienceOfTerminal
	}
	timer := time.AfterFunc(after, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.over {
			say(t.last)
		}
	})
	ctx = locktrace.With(ctx, &locktrace.Trace{
		WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.last = e.Last; t.last == nil && e.Blocker != nil {
				t.last = e.Blocker
			}
			return ctx
		},
		RenewEnd: func(_ context.Context, e locktrace.RenewEnd) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.renewal = e.Err
		},
	})
	return ctx, func() {
		timer.Stop()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.over = true
	}
}

// Stopped is the error of a command that a signal stopped while it waited for the lock of that name.
func (t *Trouble) Stopped(signalled error, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		return fmt.Errorf("%w while waiting for %q: no server had answered", signalled, name)
	}
	return fmt.Errorf("%w while waiting for %q; last try: %s", signalled, name, failure(t.last))
}

// Lost says that a lease of the lock of that name ended, or is about to, and which nodes did not renew it.
func (t *Trouble) Lost(lease lock.Lease, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	cause := context.Cause(lease.Context())
	switch {
	case errors.Is(cause, lock.ErrLost):
		return cause
	case cause == nil && lease.Remaining() > 0:
		return fmt.Errorf("%q was not renewed, and others may hold it soon: %w", name, cmp.Or(t.renewal, lock.ErrLost))
	}
	return fmt.Errorf("%q was lost at %s, and others may hold it now: %w", name, time.Now().UTC().Format(time.RFC3339),
		cmp.Or(cause, t.renewal, lock.ErrLost))
}

// NotAcquired gives the failure to acquire the lock of that name its exit status. held does so for a lock that is held,
// with who holds it in one line.
func (t *Trouble) NotAcquired(signals *child.Signals, name string, err error, held func(text string) error) error {
	if signalled, ok := errors.AsType[*child.SignalError](context.Cause(signals.Context())); ok {
		return &ui.StatusError{Status: child.StatusOf(signalled.Signal), Err: t.Stopped(signalled, name)}
	}
	if lock.ReasonOf(err) == lock.ReasonInvalid {
		return err
	}
	if text := Refusal(err); text != "" {
		return held(text)
	}
	return &ui.StatusError{Status: ExitNoLock, Err: err}
}

// WaitingFor says what an acquisition of the lock of that name waits for: see Watch.
func WaitingFor(name string, last error) string {
	if last == nil {
		return fmt.Sprintf("waiting for %q: no server has answered yet", name)
	}
	return "waiting: " + failure(last)
}

// failure is why a try failed, in one line.
func failure(err error) string {
	if text := Refusal(err); text != "" {
		return text
	}
	return err.Error()
}

// Refusal says who holds the lock, and since when; "" if it is not known to be held.
func Refusal(err error) string {
	if full, ok := errors.AsType[*lock.FullError](err); ok {
		var holders []string
		for _, held := range full.Held {
			holders = append(holders, holderText(held))
		}
		slices.Sort(holders)
		return fmt.Sprintf("all %d slots of %q are held: %s", full.Slots, full.Name,
			strings.Join(slices.Compact(holders), ", "))
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return fmt.Sprintf("%q is %s %s%s", held.Resource, HeldBy(held.Holder), holderText(held), expiry(held))
	}
	return ""
}

// HeldBy is what the holder of a lock does with it, in words that its name follows.
func HeldBy(h lock.Holder) string {
	if h.Done {
		return "kept for the minimum hold of"
	}
	return "held by"
}

func holderText(held *lock.HeldError) string {
	h := held.Holder
	switch {
	case held.HandedOver:
		return "the next waiter, to whom it is being handed"
	case h.Instance == "":
		return state.Unnamed
	case h.Reason != "":
		return Since(h) + ", reason: " + h.Reason
	}
	return Since(h)
}

// Since is "web-1/42 since 2026-11-22T15:45:44Z (3m12s)".
func Since(h lock.Holder) string {
	text := h.Instance + " since " + h.Since.UTC().Format(time.RFC3339)
	if age := time.Since(h.Since).Round(time.Second); age > 0 {
		text += fmt.Sprintf(" (%v)", age)
	}
	return text
}

func expiry(held *lock.HeldError) string {
	switch {
	case held.Remaining > 0 && held.Holder.Done:
		return fmt.Sprintf("; it ends in %v", held.Remaining.Round(100*time.Millisecond))
	case held.Remaining > 0:
		return fmt.Sprintf("; it ends in %v unless renewed", held.Remaining.Round(100*time.Millisecond))
	case held.Remaining < 0:
		return fmt.Sprintf("; it never ends: delete the key %q once you know that its owner is gone", held.Key)
	}
	return ""
}

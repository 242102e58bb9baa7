package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
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

// Stopped is the error of a command that a signal stopped while it waited for the lock of that name. text says what a
// try failed with.
func (t *Trouble) Stopped(signalled error, name string, text func(error) string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		return fmt.Errorf("%w while waiting for %q: no server had answered", signalled, name)
	}
	return fmt.Errorf("%w while waiting for %q; last try: %s", signalled, name, text(t.last))
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

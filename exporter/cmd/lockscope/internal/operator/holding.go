package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// act is the word for it in the audit log.
const actHold = "hold"

// releaseTimeout bounds how long a release waits for answers. The lock ends by its TTL then.
const releaseTimeout = 5 * time.Second

// holding is one run of the command.
type holding struct {
	*holdFlags
	app     *ui.App
	log     *Log
	signals *child.Signals
	trouble servers.Trouble
}

func (h *holding) run(l lock.Locker) error {
	if err := h.log.Intend(actHold, h.name, fmt.Sprintf(" for=%v reason=%q", h.span, h.operator.Reason)); err != nil {
		return err
	}
	ctx, stop := h.trouble.Watch(h.signals.Context(), h.app, h.sayWaiting)
	lease, err := lock.AcquireDetached(ctx, l, h.name, append(h.wait.Options(), lock.TTL(h.locker.TTL), lock.MaxHold(h.span),
		lock.HoldReason(h.operator.Reason))...)
	stop()
	if err != nil {
		return errors.Join(h.notAcquired(err), h.log.Done(actHold, h.name, "", err))
	}
	if err := h.log.Done(actHold, h.name, fmt.Sprintf("held fence=%d", lease.Fence()), nil); err != nil {
		h.say("%v", err)
	}
	_, _ = fmt.Fprintf(h.app.Out, "%q is held by %s until %s: ctrl-c releases it\n", h.name, h.operator.Name(h.app),
		time.Now().Add(h.span).UTC().Format(time.RFC3339))
	select {
	case <-lease.Context().Done():
	case <-h.signals.Context().Done():
	}
	return h.end(lease)
}

// notAcquired gives the failure to acquire its exit status.
func (h *holding) notAcquired(err error) error {
	switch signalled, ok := errors.AsType[*child.SignalError](context.Cause(h.signals.Context())); {
	case ok:
		return &ui.StatusError{
			Status: child.StatusOf(signalled.Signal), Err: h.trouble.Stopped(signalled, h.name, error.Error),
		}
	case lock.ReasonOf(err) == lock.ReasonInvalid:
		return err
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return &ui.StatusError{Status: ui.ExitFindings, Err: held}
	}
	return &ui.StatusError{Status: servers.ExitNoLock, Err: err}
}

// sayWaiting says what the command waits for.
func (h *holding) sayWaiting(last error) {
	if last == nil {
		h.say("waiting for %q: no server has answered yet", h.name)
		return
	}
	h.say("waiting: %v", last)
}

// end releases the lock, unless it was lost.
func (h *holding) end(lease lock.Lease) error {
	cause := context.Cause(lease.Context())
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	err := lease.Release(ctx)
	if errors.Is(cause, lock.ErrLost) {
		lost := h.trouble.Lost(lease, h.name)
		return errors.Join(&ui.StatusError{Status: servers.ExitNoLock, Err: lost}, h.log.Done(actHold, h.name, "", lost))
	}
	if err != nil && !errors.Is(cause, lock.ErrMaxHold) {
		h.say("the lock is not released: it ends with its TTL: %v", err)
		return h.log.Done(actHold, h.name, "", err)
	}
	_, _ = fmt.Fprintf(h.app.Out, "%q is released\n", h.name)
	return h.log.Done(actHold, h.name, "released", nil)
}

func (h *holding) say(format string, args ...any) {
	_, _ = fmt.Fprintf(h.app.ErrOut, "lockscope: "+format+"\n", args...)
}

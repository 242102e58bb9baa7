//go:build linux

package worker

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
)

// held is a lease, and what is written down of it.
type held struct {
	*caller
	id    int64
	lease lock.Lease
}

// acquire returns nil where there is no lease.
func (c *caller) acquire(ctx context.Context, i intent) *held {
	id := c.ids.next()
	r := &recorder{worker: c.worker, id: id}
	ctx = locktrace.With(ctx, r.trace())
	c.events.Write(history.Event{T: history.Now(), Kind: history.Call, ID: id, Resource: i.resource})
	lease, err := c.locker.Acquire(ctx, i.resource, i.options()...)
	e := history.Event{
		T: history.Now(), Kind: history.Return, ID: id, Resource: i.resource, NoWait: i.manner == noWait,
		Outcome: string(lock.ReasonOf(err)), HandedOver: r.handedOver.Load(), Attempts: int(r.attempts.Load()),
	}
	if err != nil {
		c.events.Write(e)
		return nil
	}
	h := &held{c, id, lease}
	e.Fence = lease.Fence()
	_, e.Until = h.look()
	c.events.Write(e)
	c.ended.Add(1)
	context.AfterFunc(lease.Context(), h.noteEnd)
	return h
}

// look reports until when the lease is valid at least, 0 if it is not, and an instant at
// which that was so.
func (h *held) look() (at, until int64) {
	at = history.Now()
	if left := h.lease.Remaining(); left > 0 && h.lease.Context().Err() == nil {
		until = at + int64(left)
	}
	return at, until
}

// sample writes down that the lease is valid, if it is.
func (h *held) sample() {
	if at, until := h.look(); until > 0 {
		h.write(history.Event{T: at, Kind: history.Extended, Since: at, Until: until, Text: "looked at"})
	}
}

// write adds whose event it is.
func (h *held) write(e history.Event) {
	e.ID, e.Resource, e.Fence = h.id, h.lease.Resource(), h.lease.Fence()
	h.events.Write(e)
}

// noteEnd is told of the end of the lease's context.
func (h *held) noteEnd() {
	defer h.ended.Done()
	at := history.Now()
	left := h.lease.Remaining()
	slack := history.Now() - at
	cause := context.Cause(h.lease.Context())
	h.write(history.Event{T: at, Kind: history.Ended, Outcome: causeName(cause), Until: at + int64(left),
		Late: max(0, -int64(left)-slack)})
}

func causeName(cause error) string {
	switch {
	case errors.Is(cause, lock.ErrReleased):
		return "released"
	case errors.Is(cause, lock.ErrLost):
		return "lost"
	case errors.Is(cause, lock.ErrMaxHold):
		return "max_hold"
	case errors.Is(cause, lock.ErrClosed):
		return "closed"
	default:
		return "caller"
	}
}

// update reads the register, thinks, and writes it, as long as the lease says that it is
// valid. Nothing but the lock keeps two updates from being lost in one another.
func (h *held) update() {
	since, until := h.look()
	if until == 0 {
		return
	}
	version, accepted, err := h.ledger.Read(h.lease.Resource(), h.lease.Fence())
	if err != nil || !accepted {
		return // a newer lease has been here; or the campaign is over
	}
	if !h.keep(h, h.upTo(2*time.Millisecond)) {
		return
	}
	if at, until := h.look(); until > 0 {
		h.store(history.Event{T: at, Kind: history.Write, Since: since, Until: until, Version: version})
	}
}

// updateBlindly writes after a while, whatever has become of the lease: nothing but the
// fence keeps that from harming others.
func (h *held) updateBlindly(after time.Duration) {
	since := history.Now()
	version, accepted, err := h.ledger.Read(h.lease.Resource(), h.lease.Fence())
	if err == nil && accepted && h.pause(after) {
		h.store(history.Event{T: history.Now(), Kind: history.Write, Since: since, Version: version,
			Text: history.Blind})
	}
}

// store sends an update to the ledger: what is written down before tells of it also if the
// process does not live to hear the answer.
func (h *held) store(e history.Event) {
	h.write(e)
	accepted, err := h.ledger.Write(ledger.Entry{
		Resource: h.lease.Resource(), Fence: h.lease.Fence(), Version: e.Version + 1, Worker: h.cfg.Name, ID: h.id,
	})
	if err == nil {
		h.write(history.Event{T: history.Now(), Kind: history.Written, Accepted: accepted})
	}
}

func (h *held) extend(ctx context.Context) {
	since := history.Now()
	err := h.lease.Extend(ctx)
	at, until := h.look()
	h.write(history.Event{T: at, Kind: history.Extended, Since: since, Until: until,
		Outcome: string(lock.ReasonOf(err))})
}

// releaseTime bounds the wait for the nodes' answers; most releases do not wait at all.
const releaseTime = 2 * time.Second

func (h *held) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	at, until := h.look()
	h.write(history.Event{T: at, Kind: history.Release, Until: until})
	err := h.lease.Release(ctx)
	outcome := ""
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok {
		outcome = string(failure.Outcome)
	} else if err != nil {
		outcome = "error"
	}
	h.write(history.Event{T: history.Now(), Kind: history.Released, Outcome: outcome})
}

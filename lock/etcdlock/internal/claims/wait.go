package claims

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// renameAfter is how long a waiter must have held the lock before its key gets the time since when. Until
// then the key has the time when the waiter came.
const renameAfter = 5 * time.Millisecond

// Promote makes a waiting claim the holder's if it is the first now: record is the holder's then. It fails with ErrGone if
// the claim has ended.
func (p *Protocol) Promote(ctx context.Context, c *Claim, record string) (claimlist.Entry, error) {
	o, sent, err := p.confirm(ctx, c, false)
	switch {
	case errors.Is(err, claimlist.ErrGone):
		p.stopWaiting(c)
		c.over.Store(true)
		return claimlist.Entry{}, claimlist.ErrGone
	case err != nil:
		return claimlist.Entry{}, p.store.NotSent(err) // it goes on waiting
	case c.want.Semaphore != nil && o.slots == 0:
		if o.slots, err = p.numbers.take(ctx, c.want.Semaphore); err != nil {
			return claimlist.Entry{}, p.store.NotSent(err)
		}
	}
	switch {
	case !c.agrees(o.slots):
		return p.otherSlots(ctx, c, o.slots)
	case !c.is(o.kvs[0]):
		return claimlist.Entry{
			Record: string(o.kvs[0].Value), Left: leftOf(ctx, p.store, o.kvs[0]), Waits: true, Ticket: c.made,
			Ahead: len(o.kvs) - 1, Slots: c.want.Slots(),
		}, nil
	}
	p.stopWaiting(c)
	c.until = sent + c.want.TTL
	c.renaming = time.AfterFunc(renameAfter, func() {
		p.store.Go(func(ctx context.Context) { _ = p.rename(ctx, c, record) })
	})
	return c.Granted(), nil
}

// Leave ends a claim that waits. If its key cannot be deleted now, it is deleted in the background, and others wait behind
// it until then.
func (p *Protocol) Leave(ctx context.Context, c *Claim) error {
	p.stopWaiting(c)
	_, _, err := p.Remove(ctx, c, false)
	if err != nil {
		p.Retire(c)
	}
	return err
}

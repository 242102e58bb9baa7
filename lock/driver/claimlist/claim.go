package claimlist

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

var (
	// ErrGone means that a claim is no longer in the list, or that its lock has ended.
	ErrGone = errors.New("the claim is gone")
	// ErrNoSlot means that the semaphore does not have the claim's slot any more.
	ErrNoSlot = errors.New("the slot is gone")
)

// Want is what a claim is made for.
type Want struct {
	Key       string // of the lock
	Token     string // of the attempt
	Record    string // holder record
	TTL       time.Duration
	Floor     uint64            // that the fence should reach
	Reads     bool              // share the lock with other readers
	Waits     bool              // stay behind the others
	Semaphore *driver.Semaphore // whose slot the lock is; nil for other locks
}

// WantOf is what a request wants.
func WantOf(req driver.AcquireRequest) Want {
	return Want{
		Key: req.Key, Token: req.Token, Record: req.Holder, TTL: req.TTL, Floor: req.Floor,
		Reads: req.Mode == driver.Read, Waits: req.Waiter.Enqueue, Semaphore: req.Semaphore,
	}
}

// Slots is how many slots the semaphore has; 0 if the lock is no slot.
func (w *Want) Slots() int {
	if w.Semaphore == nil {
		return 0
	}
	return w.Semaphore.Slots
}

// Entry is where an attempt has left its claim. A claim that neither holds the lock nor waits is over.
type Entry struct {
	Granted  bool
	Fence    uint64        // if granted
	Record   string        // of the first claim that excludes this one; "" if unknown
	Left     time.Duration // until that claim ends unless renewed; negative: never; 0: unknown
	Reserved bool          // readers hold the lock, and the claim that excludes this one waits
	Waits    bool          // the claim stays in the list
	Ticket   int64         // tells it from others of its process, if it waits
	Ahead    int           // how many claims are in front of it, if it waits
	Slots    int           // how many slots the semaphore has
}

// Reply is the vote that says so.
func (e Entry) Reply() driver.AcquireReply {
	if e.Granted {
		return driver.AcquireReply{Granted: true, Counter: e.Fence, Run: 1, Slots: e.Slots}
	}
	return driver.AcquireReply{
		Holder: e.Record, TTL: e.Left, Reserved: e.Reserved, Ticket: e.Ticket, Ahead: e.Ahead, Slots: e.Slots,
	}
}

// Extended is the reply to an extend that ended with err. taken reports that other claims are in the list.
func Extended(err error, taken bool) (driver.ExtendReply, error) {
	switch {
	case errors.Is(err, ErrGone) && taken:
		return driver.ExtendTaken, nil
	case errors.Is(err, ErrGone):
		return driver.ExtendGone, nil
	case errors.Is(err, ErrNoSlot):
		return driver.ExtendNoSlot, nil
	case err != nil:
		return 0, err
	}
	return driver.ExtendDone, nil
}

// Released is the reply to a release that found the claim, or that another has taken the lock.
func Released(found, taken bool) driver.ReleaseReply {
	switch {
	case found:
		return driver.ReleaseReply{Found: driver.FoundOwn}
	case taken:
		return driver.ReleaseReply{Found: driver.FoundOther}
	}
	return driver.ReleaseReply{Found: driver.FoundNothing}
}

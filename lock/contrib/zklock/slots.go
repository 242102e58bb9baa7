package zklock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// The number of slots of a semaphore is the data of a node below the root. The transaction that takes a place checks
// its version, so the number is the one that this process has read.

var (
	_ driver.BlockingSlotKeeper = (*node)(nil)
	_ driver.Sharer             = (*node)(nil)
)

// slotsName begins the name of a node with a number of slots. It cannot begin a resource's name: escape never produces
// a semicolon.
const slotsName = ";slots;"

// maxNumbers bounds the numbers of slots that a process remembers.
const maxNumbers = 1000

// Shares implements driver.Sharer.
func (n *node) Shares() error { return nil }

// number is how many slots a semaphore has, and the version of the node that says so.
type number struct {
	slots   int // 0 if no node says so
	version int32
}

func (n *node) slotsPath(semaphore string) string {
	return n.root + "/" + slotsName + escape(semaphore)
}

// numberOf returns the number that this process has read last, or reads it.
func (n *node) numberOf(semaphore string) (number, error) {
	n.mu.Lock()
	known, ok := n.numbers[semaphore]
	n.mu.Unlock()
	if ok {
		return known, nil
	}
	return n.readNumber(semaphore)
}

// readNumber reads the number of slots as it is now: after a sync, which takes a live leader.
func (n *node) readNumber(semaphore string) (number, error) {
	path := n.slotsPath(semaphore)
	if _, err := n.link.Sync(path); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return number{}, err
	}
	data, stat, err := n.link.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		n.note(semaphore, number{})
		return number{}, nil
	}
	if err != nil {
		return number{}, err
	}
	slots, err := strconv.Atoi(string(data))
	if err != nil || slots < 1 {
		return number{}, fmt.Errorf("%w: %s has value %.40q, which is no number of slots: find out who wrote it",
			driver.ErrMisconfigured, path, data)
	}
	known := number{slots, stat.Version}
	n.note(semaphore, known)
	return known, nil
}

// note remembers a number that was read. No number is not remembered: somebody may write one.
func (n *node) note(semaphore string, known number) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known.slots == 0 {
		delete(n.numbers, semaphore)
		return
	}
	if len(n.numbers) >= maxNumbers {
		clear(n.numbers)
	}
	n.numbers[semaphore] = known
}

// agree returns the number of slots of a semaphore, and makes it the request's if there is none. What this process
// remembers is read again if it differs from the request.
func (n *node) agree(s *driver.Semaphore) (known number, err error) {
	for range tries {
		if known, err = n.numberOf(s.Key); err == nil && known.slots != 0 && known.slots != s.Slots {
			known, err = n.readNumber(s.Key)
		}
		if err != nil || known.slots != 0 {
			return known, err
		}
		if err = n.writeNumber(s.Key, number{}, s.Slots); err != nil && !changed(err) {
			return known, err
		}
	}
	return known, errChanging(n.slotsPath(s.Key))
}

// changed reports that a node is not as it was read.
func changed(err error) bool { return isAny(err, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrBadVersion) }

func errChanging(path string) error {
	return fmt.Errorf("%w: %s keeps changing: find out who writes it", driver.ErrUnreachable, path)
}

// writeNumber replaces a number that was read.
func (n *node) writeNumber(semaphore string, old number, slots int) error {
	path, data := n.slotsPath(semaphore), []byte(strconv.Itoa(slots))
	if old.slots != 0 {
		_, err := n.link.Set(path, data, old.version)
		return err
	}
	_, err := n.link.Create(path, data, zk.FlagPersistent, n.acl)
	if errors.Is(err, zk.ErrNoNode) {
		if err := n.createAbove(path); err != nil {
			return err
		}
		_, err = n.link.Create(path, data, zk.FlagPersistent, n.acl)
	}
	return err
}

// check is the condition of a transaction that the number is as it was read.
func (n *node) check(semaphore string, known number) *zk.CheckVersionRequest {
	return &zk.CheckVersionRequest{Path: n.slotsPath(semaphore), Version: known.version}
}

// outdated reports that a transaction failed because its first operation, a check of the number, did. It forgets the
// number then.
func (n *node) outdated(s *driver.Semaphore, answers []zk.MultiResponse, err error) bool {
	if s == nil || err == nil || len(answers) == 0 || !changed(answers[0].Error) {
		return false
	}
	n.note(s.Key, number{})
	return true
}

// otherSlots is the error of an attempt at a slot of a semaphore that has another number of slots.
type otherSlots int

func (e otherSlots) Error() string { return fmt.Sprintf("the semaphore has %d slots", int(e)) }

// confirm fails with otherSlots unless the number of slots is the request's now. It is for a place that was taken
// earlier.
func (n *node) confirm(s *driver.Semaphore) error {
	for range tries {
		known, err := n.agree(s)
		if err != nil {
			return err
		}
		if known.slots != s.Slots {
			return otherSlots(known.slots)
		}
		answers, err := n.link.Multi(n.check(s.Key, known))
		if !n.outdated(s, answers, err) {
			return err
		}
	}
	return errChanging(n.slotsPath(s.Key))
}

// extendSlot is write, unless the place's semaphore does not have the slot any more.
func (n *node) extendSlot(ctx context.Context, p *place, path string, data []byte) (driver.ExtendReply, error) {
	s := p.semaphore
	for range tries {
		known, err := n.agree(s)
		switch {
		case err != nil:
			return 0, classify(err)
		case s.Slot >= known.slots:
			if known, err = n.readNumber(s.Key); err != nil {
				return 0, classify(err)
			}
			if known.slots != 0 && s.Slot >= known.slots {
				return driver.ExtendNoSlot, nil
			}
			continue
		}
		var answers []zk.MultiResponse
		_, err = n.repeat(ctx, func() error {
			answers, err = n.link.Multi(n.check(s.Key, known),
				&zk.SetDataRequest{Path: path, Data: data, Version: n.versionOf(p)})
			return err
		})
		switch {
		case err == nil:
			n.wrote(p, answers[1].Stat.Version)
			return driver.ExtendDone, nil
		case n.outdated(s, answers, err):
		default:
			return 0, err
		}
	}
	return 0, errChanging(n.slotsPath(s.Key))
}

// Resize implements driver.BlockingSlotKeeper.
func (n *node) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	return within(ctx, n, n.link.awaitReachable, func() (driver.ResizeReply, error) {
		for range tries {
			known, err := n.readNumber(req.Key)
			if err != nil {
				return 0, classify(err)
			}
			if req.To == 0 || known.slots != 0 && known.slots != req.From && known.slots != req.To {
				return driver.ResizeReply(known.slots), nil
			}
			switch err := n.writeNumber(req.Key, known, req.To); {
			case err == nil:
				n.note(req.Key, number{})
				return driver.ResizeReply(known.slots), nil
			case !changed(err):
				return 0, cutOff(err)
			}
		}
		return 0, errChanging(n.slotsPath(req.Key))
	}, nil)
}

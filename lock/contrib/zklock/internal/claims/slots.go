package claims

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// maxNumbers bounds the numbers of slots that a process remembers.
const maxNumbers = 1000

// numbers are the numbers of slots of semaphores. Each is the data of a node below the root. The transaction that makes a
// claim checks the node's version, so the number is the one that this process has read.
type numbers struct {
	tree tree

	mu    sync.Mutex
	known map[string]number // as read last
}

// number is how many slots a semaphore has, and the version of the node that says so.
type number struct {
	slots   int // 0 if no node says so
	version int32
}

// otherSlots is the error of an attempt at a slot of a semaphore that has another number of slots.
type otherSlots int

func (e otherSlots) Error() string { return fmt.Sprintf("the semaphore has %d slots", int(e)) }

// read reads the number of slots as it is now: after a sync, which takes a live leader.
func (n *numbers) read(semaphore string) (number, error) {
	path := n.tree.slots(semaphore)
	if err := n.tree.zk.Sync(path); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return number{}, err
	}
	data, stat, err := n.tree.zk.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		n.note(semaphore, number{})
		return number{}, nil
	}
	if err != nil {
		return number{}, err
	}
	slots, ok := claimlist.ParseSlots(data)
	if !ok {
		return number{}, fmt.Errorf("%w: %s has value %.40q, which is no number of slots: find out who wrote it",
			driver.ErrMisconfigured, path, data)
	}
	known := number{slots, stat.Version}
	n.note(semaphore, known)
	return known, nil
}

// note remembers a number that was read. No number is not remembered: somebody may write one.
func (n *numbers) note(semaphore string, known number) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known.slots == 0 {
		delete(n.known, semaphore)
		return
	}
	if len(n.known) >= maxNumbers {
		clear(n.known)
	}
	n.known[semaphore] = known
}

// agree returns the number of slots of a semaphore, and makes it the request's if there is none. What this process
// remembers is read again if it differs from the request.
func (n *numbers) agree(s *driver.Semaphore) (known number, err error) {
	for range tries {
		n.mu.Lock()
		known = n.known[s.Key]
		n.mu.Unlock()
		if known.slots != s.Slots {
			known, err = n.read(s.Key)
		}
		if err != nil || known.slots != 0 {
			return known, err
		}
		if err = n.write(s.Key, number{}, s.Slots); err != nil && !changed(err) {
			return known, err
		}
	}
	return known, errChanging(n.tree.slots(s.Key))
}

// write replaces a number that was read.
func (n *numbers) write(semaphore string, old number, slots int) error {
	path, data := n.tree.slots(semaphore), []byte(strconv.Itoa(slots))
	if old.slots != 0 {
		_, err := n.tree.zk.Set(path, data, old.version)
		return err
	}
	err := n.tree.create(path, data)
	if errors.Is(err, zk.ErrNoNode) {
		if err := n.tree.createAbove(path); err != nil {
			return err
		}
		err = n.tree.create(path, data)
	}
	return err
}

// check is the condition of a transaction that the number is as it was read.
func (n *numbers) check(semaphore string, known number) *zk.CheckVersionRequest {
	return &zk.CheckVersionRequest{Path: n.tree.slots(semaphore), Version: known.version}
}

// outdated reports that a transaction failed because its first operation, a check of the number, did. It forgets the
// number then.
func (n *numbers) outdated(s *driver.Semaphore, answers []zk.MultiResponse, err error) bool {
	if err == nil || len(answers) == 0 || !changed(answers[0].Error) {
		return false
	}
	n.note(s.Key, number{})
	return true
}

// multi carries out operations if the number of slots is the one that the request says. It fails with otherSlots if that
// is another.
func (n *numbers) multi(s *driver.Semaphore, ops ...any) ([]zk.MultiResponse, error) {
	for range tries {
		known, err := n.agree(s)
		if err != nil {
			return nil, err
		}
		if known.slots != s.Slots {
			return nil, otherSlots(known.slots)
		}
		answers, err := n.tree.zk.Multi(append([]any{n.check(s.Key, known)}, ops...)...)
		switch {
		case err == nil:
			return answers[1:], nil
		case !n.outdated(s, answers, err):
			return nil, err
		}
	}
	return nil, errChanging(n.tree.slots(s.Key))
}

// confirm fails with otherSlots unless the number of slots is the request's now. It is for a claim that was made earlier.
func (n *numbers) confirm(s *driver.Semaphore) error {
	_, err := n.multi(s)
	return err
}

func (n *numbers) resize(semaphore string, from, to int) (int, error) {
	for range tries {
		known, err := n.read(semaphore)
		if err != nil {
			return 0, store.Classify(err)
		}
		if !claimlist.Resizes(known.slots, from, to) {
			return known.slots, nil
		}
		switch err := n.write(semaphore, known, to); {
		case err == nil:
			n.note(semaphore, number{})
			return known.slots, nil
		case !changed(err):
			return 0, store.CutOff(err)
		}
	}
	return 0, errChanging(n.tree.slots(semaphore))
}

package claims

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
)

// fences is what the ensemble's transaction numbers are added to. It is stored once,
// and read in each session: another session may be on an ensemble that was made anew.
type fences struct {
	tree tree

	mu      sync.Mutex
	session int64
	base    uint64
}

// of is the token of a claim: the number of the transaction that made it, above the
// base. A queue's order is that of these numbers.
func (f *fences) of(c *Claim, floor uint64) (uint64, error) {
	c.mu.Lock()
	czxid := c.czxid
	c.mu.Unlock()
	if czxid <= 0 {
		return 0, fmt.Errorf("%w: create returned no czxid", driver.ErrBadReply)
	}
	session := f.tree.zk.SessionID()
	f.mu.Lock()
	base, stale := f.base, f.session != session || f.base == 0
	f.mu.Unlock()
	if stale {
		var err error
		if base, err = f.read(floor); err != nil {
			return 0, err
		}
		f.mu.Lock()
		f.session, f.base = session, base
		f.mu.Unlock()
	}
	return base + uint64(czxid), nil
}

// read returns the base, which is floor if there was none.
func (f *fences) read(floor uint64) (uint64, error) {
	path := f.tree.base()
	for range tries {
		data, _, err := f.tree.zk.Get(path)
		switch {
		case err == nil:
			value := parseBase(data)
			if value == 0 {
				return 0, fmt.Errorf("%w: %s has value %.40q: find out who wrote it", driver.ErrFenceCounter, path,
					data)
			}
			return value, nil
		case !errors.Is(err, zk.ErrNoNode):
			return 0, store.Classify(err)
		}
		err = f.tree.create(path, strconv.AppendUint(nil, floor, 10))
		if err == nil {
			return floor, nil
		}
		if !errors.Is(err, zk.ErrNodeExists) {
			return 0, store.Classify(err)
		}
	}
	return 0, fmt.Errorf("%w: %s is created and deleted repeatedly: find out who does that", driver.ErrFenceCounter,
		path)
}

// parseBase returns 0 for what is no base: no token is granted on it.
func parseBase(data []byte) uint64 {
	value, err := strconv.ParseUint(string(data), 10, 62)
	if err != nil {
		return 0
	}
	return value
}

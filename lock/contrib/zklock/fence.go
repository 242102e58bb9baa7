package zklock

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// fenceBase is what the ensemble's transaction numbers are added to. It is stored once,
// and read in each session: another session may be on an ensemble that was made anew.
type fenceBase struct {
	session int64
	value   uint64
}

// baseName cannot be a resource's name: escape never produces a semicolon.
const baseName = ";fence-base"

// fence is the token of a place: the number of the transaction that made it, above the
// base. A queue's order is that of these numbers.
func (n *node) fence(p *place, floor uint64) (uint64, error) {
	n.mu.Lock()
	base, czxid := n.base, p.czxid
	n.mu.Unlock()
	if czxid <= 0 {
		return 0, fmt.Errorf("%w: create returned no czxid", driver.ErrBadReply)
	}
	if session := n.link.SessionID(); base.session != session || base.value == 0 {
		value, err := n.readBase(floor)
		if err != nil {
			return 0, err
		}
		base = fenceBase{session, value}
		n.mu.Lock()
		n.base = base
		n.mu.Unlock()
	}
	return base.value + uint64(czxid), nil
}

// readBase returns the base, which is floor if there was none.
func (n *node) readBase(floor uint64) (uint64, error) {
	path := n.root + "/" + baseName
	for range tries {
		data, _, err := n.link.Get(path)
		switch {
		case err == nil:
			value, err := strconv.ParseUint(string(data), 10, 62)
			if err != nil || value == 0 {
				return 0, fmt.Errorf("%w: %s has value %.40q: find out who wrote it", driver.ErrFenceCounter, path,
					data)
			}
			return value, nil
		case !errors.Is(err, zk.ErrNoNode):
			return 0, classify(err)
		}
		_, err = n.link.Create(path, strconv.AppendUint(nil, floor, 10), zk.FlagPersistent, n.acl)
		if err == nil {
			return floor, nil
		}
		if !errors.Is(err, zk.ErrNodeExists) {
			return 0, classify(err)
		}
	}
	return 0, fmt.Errorf("%w: %s is created and deleted repeatedly: find out who does that", driver.ErrFenceCounter,
		path)
}

package zklock

import (
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// readHolder reads the record of the first place in front, and watches the last one for a waiter. stat is
// nil if the first place has ended but others exist. It fails with zk.ErrNoNode if the watched place has
// ended.
func (n *node) readHolder(p *place, front []string, waits bool) (data []byte, stat *zk.Stat, err error) {
	first, last := front[0], front[len(front)-1]
	if !waits || !n.startsWatching(p, last) {
		data, stat, err = n.link.Get(p.dir + "/" + first)
	} else if first == last {
		var events <-chan zk.Event
		data, stat, events, err = n.link.GetW(p.dir + "/" + last)
		return data, stat, n.follow(p, last, events, err)
	} else {
		var watched error
		var all sync.WaitGroup
		all.Go(func() { watched = n.watch(p, last) })
		data, stat, err = n.link.Get(p.dir + "/" + first)
		all.Wait()
		if watched != nil {
			return nil, nil, watched
		}
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil, nil
	}
	return data, stat, err
}

// startsWatching records which place is about to be watched. It returns false if it is watched already.
func (n *node) startsWatching(p *place, name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.watching == name {
		return false
	}
	p.watching = name
	return true
}

// watch watches for the end of a place. It watches its children, which it never has: a watch of its data
// would fire with every extension.
func (n *node) watch(p *place, name string) error {
	_, _, events, err := n.link.ChildrenW(p.dir + "/" + name)
	return n.follow(p, name, events, err)
}

// follow waits for the event of a watch, unless setting the watch failed.
func (n *node) follow(p *place, name string, events <-chan zk.Event, err error) error {
	if err != nil {
		n.mu.Lock()
		p.watching = ""
		n.mu.Unlock()
		return err
	}
	n.run(func() {
		select {
		case e := <-events:
			if e.Type == zk.EventNodeDataChanged && n.watch(p, name) == nil {
				return
			}
			n.moved(p)
		case <-n.life.Done():
		}
	})
	return nil
}

// moved runs when the place in front, or the session, has ended. The next attempt finds out whether the
// place in front held the lock or was given up: reading the queue here would cost a round trip for every
// hand-off.
func (n *node) moved(p *place) {
	n.mu.Lock()
	p.watching = ""
	wake, buried := n.wake, p.buried
	n.mu.Unlock()
	if wake != nil && !buried {
		wake(p.key)
	}
}

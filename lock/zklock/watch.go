package zklock

import (
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// readHolder reads what the first of those in front says, and has the last of them watched
// for who waits. stat is nil if the first is gone, and others are not; it fails with
// zk.ErrNoNode if the watched one is.
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

// startsWatching notes what the place is about to watch. It is false if it does already.
func (n *node) startsWatching(p *place, name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.watching == name {
		return false
	}
	p.watching = name
	return true
}

// watch has the process told when that one goes: by a watch of its children, of which it
// has none, for one of its data goes off whenever its holder extends.
func (n *node) watch(p *place, name string) error {
	_, _, events, err := n.link.ChildrenW(p.dir + "/" + name)
	return n.follow(p, name, events, err)
}

// follow waits for the event of a watch, unless there is none for an error.
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

// moved is called when the one in front has gone, or when the session has. Whether it had
// the lock, or gave up, the attempt that follows finds out: to read the queue here would
// make every hand-off a round trip longer.
func (n *node) moved(p *place) {
	n.mu.Lock()
	p.watching = ""
	wake, buried := n.wake, p.buried
	n.mu.Unlock()
	if wake != nil && !buried {
		wake(p.key)
	}
}

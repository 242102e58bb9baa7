package zklock

import (
	"path"
	"slices"

	"github.com/go-zookeeper/zk"
)

// watch has the process told when the place is first. front are those before it; only
// the last of them is watched. It fails with zk.ErrNoNode if that one is gone.
func (n *node) watch(p *place, front []string) error {
	last := front[len(front)-1]
	n.mu.Lock()
	already := p.watching == last
	p.watching = last
	n.mu.Unlock()
	if already {
		return nil
	}
	// A watch of children, of which it has none: one of its data would go off whenever
	// its holder extends.
	_, _, events, err := n.link.ChildrenW(p.dir + "/" + last)
	if err != nil {
		n.mu.Lock()
		p.watching = ""
		n.mu.Unlock()
		return err
	}
	n.run(func() {
		select {
		case e := <-events:
			n.moved(p, e, len(front) == 1)
		case <-n.life.Done():
		}
	})
	return nil
}

// moved is called when the one in front has gone, or when the session has.
func (n *node) moved(p *place, e zk.Event, first bool) {
	n.mu.Lock()
	p.watching = ""
	n.mu.Unlock()
	own, ok := n.at(p)
	if !ok {
		return
	}
	if !first && e.Type == zk.EventNodeDeleted {
		names, _, err := n.link.Children(p.dir)
		at := slices.Index(queueOf(names), path.Base(own))
		if err == nil && at > 0 && n.watch(p, queueOf(names)[:at]) == nil {
			return // it had given up; others are still in front
		}
	}
	n.mu.Lock()
	wake := n.wake
	n.mu.Unlock()
	if wake != nil {
		wake(p.key)
	}
}

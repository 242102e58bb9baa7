package zklock

// watch has the process told when the place may be first. front are those before it; only
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
		case <-events:
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

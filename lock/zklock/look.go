package zklock

import (
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// sight is what the node of a resource looked like.
type sight struct {
	names []string
	stat  *zk.Stat
	err   error
}

var errNotAsked = errors.New("zklock: not asked")

func (n *node) see(dir string) (s sight) {
	s.names, s.stat, s.err = n.link.Children(dir)
	return s
}

// createAndLook makes the place, and reads the queue before and after on the same way: a
// server answers a session in order, so that all of it takes the time of one proposal. The
// three are sent in the order in which goroutines get to it; what is concluded holds for
// any. Where the last queue was of several, what was before would say nothing. names is nil
// if the place was not seen.
func (n *node) createAndLook(p *place) (names []string, err error) {
	var made string
	var before, after sight
	var all sync.WaitGroup
	all.Go(func() {
		all.Go(func() { after = n.see(p.dir) })
		made, err = n.link.Create(p.dir+"/"+protected+p.guid+lockName, p.data, zk.FlagEphemeral|zk.FlagSequence, n.acl)
	})
	if n.crowded.Load() {
		before.err = errNotAsked
	} else {
		before = n.see(p.dir)
	}
	all.Wait()
	if err != nil {
		return nil, err
	}
	n.made(p, made, 0)
	if after.err != nil || !slices.Contains(after.names, path.Base(made)) {
		return nil, nil
	}
	if onlyThis(before, after) {
		n.made(p, made, after.stat.Pzxid)
	}
	names = queueOf(after.names)
	n.crowded.Store(len(names) > 1)
	return names, nil
}

// onlyThis reports that one node was made between the two, and none deleted: the last change
// of the children is the one that made the only child. Cversion is twice the nodes ever
// made, less those there are; a container that was made anew counts from the beginning.
func onlyThis(before, after sight) bool {
	return before.err == nil && before.stat.Czxid == after.stat.Czxid && before.stat.NumChildren == 0 && after.stat.NumChildren == 1 &&
		after.stat.Cversion-before.stat.Cversion == 1
}

// look reads the queue. The place of who has queued may have gone with its session, and the
// server not know it yet: to sync takes a session that lives. It need not come first, for
// who was the first in the queue stays that while its place is there.
func (n *node) look(p *place, queued bool) ([]string, error) {
	var statErr, syncErr error
	var all sync.WaitGroup
	n.mu.Lock()
	session := p.session
	n.mu.Unlock()
	all.Go(func() { statErr = n.know(p) })
	if queued {
		all.Go(func() { _, syncErr = n.link.Sync(p.dir) })
	}
	names, _, err := n.link.Children(p.dir)
	all.Wait()
	switch {
	case syncErr != nil:
		return nil, syncErr
	case queued && n.link.SessionID() != session:
		return nil, nil // the place went with its session, and it is another that was synced
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	case statErr != nil:
		return nil, statErr
	}
	return queueOf(names), nil
}

// know finds out which change made the place, if that is not known.
func (n *node) know(p *place) error {
	n.mu.Lock()
	own, known := p.path, p.czxid != 0
	n.mu.Unlock()
	if known {
		return nil
	}
	_, stat, err := n.link.Exists(own)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err != nil:
		return err
	case stat.Czxid != 0:
		n.made(p, own, stat.Czxid)
	}
	return nil
}

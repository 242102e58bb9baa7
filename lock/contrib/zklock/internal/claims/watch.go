package claims

import (
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// watches wake the claims of this process that wait.
type watches struct {
	zk         *store.Client
	background *claimlist.Background
	notify     func(key string) // makes the engine try again
}

// readHolder reads the record of the first claim in front, and watches the last one for a waiter. stat is
// nil if the first claim has ended but others exist. It fails with zk.ErrNoNode if the watched claim has
// ended.
func (w *watches) readHolder(c *Claim, front []string, waits bool) (data []byte, stat *zk.Stat, err error) {
	first, last := front[0], front[len(front)-1]
	if !waits || !c.startsWatching(last) {
		data, stat, err = w.zk.Get(c.dir + "/" + first)
	} else if first == last {
		var events <-chan zk.Event
		data, stat, events, err = w.zk.GetW(c.dir + "/" + last)
		return data, stat, w.follow(c, last, events, err)
	} else {
		var watched error
		var all sync.WaitGroup
		all.Go(func() { watched = w.watch(c, last) })
		data, stat, err = w.zk.Get(c.dir + "/" + first)
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

// startsWatching records which claim is about to be watched. It returns false if it is watched already.
func (c *Claim) startsWatching(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watching == name {
		return false
	}
	c.watching = name
	return true
}

// stopsWatching records that no claim is watched. It returns false if the claim was given up.
func (c *Claim) stopsWatching() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watching = ""
	return !c.buried
}

// watch watches for the end of a claim. It watches its children, which it never has: a watch of its data
// would fire with every extension.
func (w *watches) watch(c *Claim, name string) error {
	events, err := w.zk.WatchChildren(c.dir + "/" + name)
	return w.follow(c, name, events, err)
}

// follow waits for the event of a watch, unless setting the watch failed. The event means that the claim in front, or the
// session, has ended. The next attempt finds out whether the claim in front held the lock or was given up: reading the
// queue here would cost a round trip for every hand-off.
func (w *watches) follow(c *Claim, name string, events <-chan zk.Event, err error) error {
	if err != nil {
		c.stopsWatching()
		return err
	}
	w.background.Run(func() {
		select {
		case e := <-events:
			if e.Type == zk.EventNodeDataChanged && w.watch(c, name) == nil {
				return
			}
			if c.stopsWatching() {
				w.notify(c.wanted().Key)
			}
		case <-w.background.Life.Done():
		}
	})
	return nil
}

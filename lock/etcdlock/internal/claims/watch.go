package etcdlock

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// linger is how long a directory is watched after its last waiter left. etcd serves a
	// watch that begins at a past revision in rounds of 100 ms. A watch per wait would begin
	// in the past whenever the lock was released meanwhile.
	linger = 10 * time.Second
	// maxGone is how many deletions a watch remembers, for a claim that is older than they
	// are but follows the watch later.
	maxGone = 256
)

// watch notifies the claim that waits in a directory when all claims before it are gone. There is one watch
// for each contended resource, since only one caller of a process contends for it.
type watch struct {
	n         *node
	directory string
	end       context.CancelFunc

	// Guarded by mu, which comes after that of the node.
	mu       sync.Mutex
	key      string              // of the lock
	place    *claim              // the claim that waits; nil if none does
	before   map[string]struct{} // keys before it that may still exist; nil if it has not looked
	notified bool                // place was notified that it is first, or gone
	open     bool                // the watch receives every deletion from now on
	gone     []deletion
	missed   int64 // the revision up to which deletions may have been missed or dropped
	idle     *time.Timer
}

type deletion struct {
	key string
	at  int64
}

// follow adds a claim to the directory's watch, with the keys that were before it when it was created.
func (n *node) follow(key string, c *claim, before []*mvccpb.KeyValue) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return
	}
	w := n.watches[c.directory]
	if w == nil {
		w = n.startWatch(c.directory)
	}
	w.mu.Lock()
	n.mu.Unlock()
	w.idle.Stop()
	w.key, w.place, w.notified, w.before = key, c, false, nil
	var wake bool
	if w.open && w.missed <= c.made {
		wake = w.expect(before, c.made)
	}
	look := w.open && w.before == nil
	w.mu.Unlock()
	if wake {
		n.notify(key)
	}
	if look {
		n.run(func() { w.look(n.life, c) })
	}
}

// startWatch expects the mutex of the node to be held.
func (n *node) startWatch(directory string) *watch {
	ctx, end := context.WithCancel(clientv3.WithRequireLeader(n.life))
	w := &watch{n: n, directory: directory, end: end}
	w.idle = time.AfterFunc(linger, w.stop)
	n.watches[directory] = w
	n.work.Go(func() { w.run(ctx) })
	return w
}

// stop ends the watch if nobody waits.
func (w *watch) stop() {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.place == nil {
		delete(w.n.watches, w.directory)
		w.end()
	}
}

// unfollow removes a claim that no longer waits.
func (w *watch) unfollow(c *claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.place == c {
		w.place, w.before = nil, nil
		w.idle.Reset(linger)
	}
}

// expect sets the keys to wait for, as of a revision. It reports whether none is left. The mutex is held.
func (w *watch) expect(before []*mvccpb.KeyValue, at int64) (first bool) {
	w.before = make(map[string]struct{}, len(before))
	for _, kv := range before {
		w.before[string(kv.Key)] = struct{}{}
	}
	for _, d := range w.gone {
		if d.at > at {
			delete(w.before, d.key)
			first = first || d.key == w.place.key
		}
	}
	w.notified = first || len(w.before) == 0
	return w.notified
}

// run keeps the directory watched until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.idle.Stop()
	for ctx.Err() == nil {
		w.session(ctx)
		w.mu.Lock()
		w.open, w.before, w.gone = false, nil, nil
		w.mu.Unlock()
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// session watches until the watch ends. The client repairs broken connections; a compacted revision or the
// loss of the leader ends the watch.
func (w *watch) session(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := w.n.client.Watch(ctx, w.directory, clientv3.WithPrefix(), clientv3.WithFilterPut(),
		clientv3.WithCreatedNotify())
	for resp := range events {
		switch {
		case resp.Err() != nil:
			return
		case resp.Created:
			w.opened(ctx, resp.Header.Revision)
		default:
			w.deliver(resp.Events)
		}
	}
}

// opened looks on behalf of a claim that is older than the watch.
func (w *watch) opened(ctx context.Context, at int64) {
	w.mu.Lock()
	w.open, w.missed = true, at
	place := w.place
	w.mu.Unlock()
	if place != nil {
		w.n.run(func() { w.look(ctx, place) })
	}
}

// look reads the keys before a claim, since the watch may have missed deletions. If it fails, the claim's
// own polls replace it.
func (w *watch) look(ctx context.Context, c *claim) {
	ctx, cancel := context.WithTimeout(ctx, w.n.timeout)
	defer cancel()
	v, err := w.n.look(ctx, c)
	if err != nil && !errors.Is(err, errGone) {
		return
	}
	w.mu.Lock()
	wake := false
	if w.place == c && w.open {
		before := v.kvs
		if err == nil {
			before = before[:len(before)-1]
		}
		wake = w.expect(before, v.header.Revision) || err != nil
	}
	key := w.key
	w.mu.Unlock()
	if wake {
		w.n.notify(key)
	}
}

// deliver notifies the claim if it is the first now, or gone.
func (w *watch) deliver(events []*clientv3.Event) {
	w.mu.Lock()
	wake := false
	for _, e := range events {
		key, at := string(e.Kv.Key), e.Kv.ModRevision
		w.gone = append(w.gone, deletion{key, at})
		if w.place == nil || w.before == nil || w.notified || at <= w.place.made {
			continue
		}
		delete(w.before, key)
		wake = wake || len(w.before) == 0 || key == w.place.key
	}
	if over := len(w.gone) - maxGone; over > 0 {
		w.missed = max(w.missed, w.gone[over-1].at)
		w.gone = append(w.gone[:0], w.gone[over:]...)
	}
	w.notified = w.notified || wake
	key := w.key
	w.mu.Unlock()
	if wake {
		w.n.notify(key)
	}
}

// notify makes the engine try again.
func (n *node) notify(key string) {
	n.mu.Lock()
	wake, closed := n.wake, n.closed
	n.mu.Unlock()
	if wake != nil && !closed {
		wake(key)
	}
}

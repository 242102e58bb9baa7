package claims

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
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

// watches has a watch for each contended resource, since only one caller of a process contends for it.
type watches struct {
	store  *store.Store
	probe  func(ctx context.Context, c *Claim, held bool) (*Observation, error)
	notify func(key string) // makes the engine try again

	mu   sync.Mutex
	open map[string]*watch // by directory
}

// watch notifies the claim that waits in a directory when all claims before it are gone.
type watch struct {
	all       *watches
	directory string
	end       context.CancelFunc

	// Guarded by mu, which comes after that of all.
	mu       sync.Mutex
	waiter   *Claim              // nil if none waits
	before   map[string]struct{} // keys before it that may still exist; nil before they are known
	notified bool                // that the waiter is first, or gone
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
func (a *watches) follow(c *Claim, before []*mvccpb.KeyValue) {
	a.mu.Lock()
	w := a.open[c.directory]
	if w == nil {
		if w = a.start(c.directory); w == nil {
			a.mu.Unlock()
			return
		}
	}
	w.mu.Lock()
	a.mu.Unlock()
	w.idle.Stop()
	w.waiter, w.notified, w.before = c, false, nil
	var first bool
	if w.open && w.missed <= c.made {
		first = w.expect(before, c.made)
	}
	unknown := w.open && w.before == nil
	w.mu.Unlock()
	if first {
		a.wake(c)
	}
	if unknown {
		a.store.Go(func(ctx context.Context) { w.check(ctx, c) })
	}
}

// start expects the mutex to be held. It returns nil after the end of the background.
func (a *watches) start(directory string) *watch {
	ctx, end := context.WithCancel(a.store.Background.Life)
	w := &watch{all: a, directory: directory, end: end}
	w.idle = time.AfterFunc(linger, w.stop)
	if !a.store.Background.Run(func() { w.run(ctx) }) {
		w.idle.Stop()
		end()
		return nil
	}
	a.open[directory] = w
	return w
}

// unfollow removes a claim that no longer waits.
func (a *watches) unfollow(c *Claim) {
	a.mu.Lock()
	w := a.open[c.directory]
	a.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiter == c {
		w.waiter, w.before = nil, nil
		w.idle.Reset(linger)
	}
}

func (a *watches) wake(c *Claim) {
	if a.store.Background.Life.Err() == nil {
		a.notify(c.want.Key)
	}
}

// stop ends the watch if nobody waits.
func (w *watch) stop() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiter == nil {
		delete(w.all.open, w.directory)
		w.end()
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
			first = first || d.key == w.waiter.key
		}
	}
	w.notified = first || len(w.before) == 0
	return w.notified
}

// run keeps the directory watched until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.idle.Stop()
	for ctx.Err() == nil {
		w.all.store.Deletions(ctx, w.directory, w.opened, w.deliver)
		w.mu.Lock()
		w.open, w.before, w.gone = false, nil, nil
		w.mu.Unlock()
		timer := time.NewTimer(store.RetryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// opened has a claim checked that is older than the watch.
func (w *watch) opened(at int64) {
	w.mu.Lock()
	w.open, w.missed = true, at
	waiter := w.waiter
	w.mu.Unlock()
	if waiter != nil {
		w.all.store.Go(func(ctx context.Context) { w.check(ctx, waiter) })
	}
}

// check reads the keys before a claim, since the watch may have missed deletions. If it fails, the claim's
// own polls replace it.
func (w *watch) check(ctx context.Context, c *Claim) {
	o, err := w.all.probe(ctx, c, false)
	if err != nil && !errors.Is(err, claimlist.ErrGone) {
		return
	}
	w.mu.Lock()
	wake := false
	if w.waiter == c && w.open {
		before := o.kvs
		if err == nil {
			before = before[:len(before)-1]
		}
		wake = w.expect(before, o.revision) || err != nil
	}
	w.mu.Unlock()
	if wake {
		w.all.wake(c)
	}
}

// deliver notifies the claim if it is the first now, or gone.
func (w *watch) deliver(events []*clientv3.Event) {
	w.mu.Lock()
	wake, waiter := false, w.waiter
	for _, e := range events {
		key, at := string(e.Kv.Key), e.Kv.ModRevision
		w.gone = append(w.gone, deletion{key, at})
		if waiter == nil || w.before == nil || w.notified || at <= waiter.made {
			continue
		}
		delete(w.before, key)
		wake = wake || len(w.before) == 0 || key == waiter.key
	}
	if over := len(w.gone) - maxGone; over > 0 {
		w.missed = max(w.missed, w.gone[over-1].at)
		w.gone = append(w.gone[:0], w.gone[over:]...)
	}
	w.notified = w.notified || wake
	w.mu.Unlock()
	if wake {
		w.all.wake(waiter)
	}
}

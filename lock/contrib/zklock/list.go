package zklock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// HeldLock is a lock that is held. It has no remaining time: the lock lives as long as its holder's
// session, and the ensemble does not tell others how long that is.
type HeldLock struct {
	Key    string      // path below the root
	Fence  uint64      // 0 for zk.Lock and Curator
	Holder lock.Holder // empty for zk.Lock and Curator
}

// Waiting is a place behind the one that holds a lock. It names the waiting process, but not how many
// of its calls wait, nor which locks they hold.
type Waiting struct {
	Key    string
	Since  time.Time   // on the ensemble's clock
	Holder lock.Holder // the waiting process; empty for zk.Lock and Curator
}

// readParallel bounds the concurrent requests.
const readParallel = 8

// ReadHeldLocks returns the locks below a root that are held, ordered by key, including those of zk.Lock
// and Curator. A lock that is read has one entry for each reader. ReadHeldLocks needs only the right to read, and
// changes nothing. It finds locks directly below the root. Locks that are taken or released during the call may be
// missing or present.
//
// The ZooKeeper client has no contexts. When ctx ends, ReadHeldLocks fails at once, while its requests end
// with their answers or with conn.
func ReadHeldLocks(ctx context.Context, conn *zk.Conn, root string) ([]HeldLock, error) {
	return answered(ctx, func() ([]HeldLock, error) {
		queues, err := readQueues(ctx, conn, root, holders)
		if err != nil {
			return nil, err
		}
		base, err := storedBase(conn, root)
		if err != nil {
			return nil, err
		}
		var all []HeldLock
		for _, q := range queues {
			for _, p := range q.places[:q.held()] {
				h := HeldLock{Key: q.key, Holder: p.holder}
				if base != 0 && p.ours {
					h.Fence = base + uint64(p.stat.Czxid)
				}
				all = append(all, h)
			}
		}
		return all, nil
	})
}

// ReadWaiting returns the waiters for the locks below a root, ordered by key and by position in the
// queue. It changes nothing, and fails as [ReadHeldLocks] does.
func ReadWaiting(ctx context.Context, conn *zk.Conn, root string) ([]Waiting, error) {
	return answered(ctx, func() ([]Waiting, error) {
		queues, err := readQueues(ctx, conn, root, queueOf)
		if err != nil {
			return nil, err
		}
		var all []Waiting
		for _, q := range queues {
			for _, p := range q.places[q.held():] {
				all = append(all, Waiting{Key: q.key, Since: time.UnixMilli(p.stat.Ctime), Holder: p.holder})
			}
		}
		return all, nil
	})
}

// answered waits for ask until ctx ends.
func answered[T any](ctx context.Context, ask func() ([]T, error)) ([]T, error) {
	var all []T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		all, err = ask()
	}()
	select {
	case <-done:
		if err != nil {
			return nil, fmt.Errorf("zklock: %w", classify(err))
		}
		return all, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("zklock: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}

// storedBase is the base of the tokens; 0 if none was ever granted.
func storedBase(conn *zk.Conn, root string) (uint64, error) {
	data, _, err := conn.Get(root + "/" + baseName)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return 0, err
	}
	value, err := strconv.ParseUint(string(data), 10, 62)
	if err != nil {
		return 0, nil // no token is granted on such a base either
	}
	return value, nil
}

// readQueue is the places of a lock, in the order of the queue: at least one.
type readQueue struct {
	key    string
	places []readPlace
}

// held is how many of the places hold the lock: one, or all readers that are in front of every other place.
func (q *readQueue) held() int {
	n := 0
	for n < len(q.places) && q.places[n].reads {
		n++
	}
	return max(n, 1)
}

// holders returns the names of the places that hold the lock.
func holders(names []string) []string {
	queue := queueOf(names)
	n := 0
	for n < len(queue) && isReader(queue[n]) {
		n++
	}
	return queue[:min(max(n, 1), len(queue))]
}

type readPlace struct {
	reads  bool
	stat   *zk.Stat
	holder lock.Holder
	ours   bool // false for zk.Lock and Curator
}

// readQueues reads the queues of all locks. places chooses the names that are read of each, in order.
func readQueues(ctx context.Context, conn *zk.Conn, root string, places func([]string) []string) ([]readQueue, error) {
	if _, err := conn.Sync(root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err // without a sync this server may lag behind
	}
	names, _, err := conn.Children(root)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	var mu sync.Mutex
	var all []readQueue
	var errs []error
	slots := make(chan struct{}, readParallel)
	var asking sync.WaitGroup
	for _, name := range names {
		key, err := url.PathUnescape(name)
		if err != nil || name == baseName || strings.HasPrefix(name, slotsName) {
			continue
		}
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			read, err := readPlaces(ctx, conn, root+"/"+name, places)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			} else if len(read) > 0 {
				all = append(all, readQueue{key, read})
			}
		})
	}
	asking.Wait()
	if len(errs) > 0 {
		return nil, errs[0]
	}
	slices.SortFunc(all, func(a, b readQueue) int { return strings.Compare(a.key, b.key) })
	return all, nil
}

// readPlaces reads the chosen places of a queue. It skips places that end meanwhile, and starts over
// if the first one does.
func readPlaces(ctx context.Context, conn *zk.Conn, dir string, chosen func([]string) []string) ([]readPlace, error) {
	for range tries {
		names, _, err := conn.Children(dir)
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		places, err := readData(ctx, conn, dir, chosen(names))
		if !errors.Is(err, zk.ErrNoNode) {
			return places, err
		}
	}
	return nil, nil // it changes hands faster than it can be read
}

// readData fails with zk.ErrNoNode if the first place has ended.
func readData(ctx context.Context, conn *zk.Conn, dir string, queue []string) (places []readPlace, err error) {
	for i, name := range queue {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, stat, err := conn.Get(dir + "/" + name)
		switch {
		case errors.Is(err, zk.ErrNoNode) && i > 0:
			continue
		case err != nil:
			return nil, err
		}
		p := readPlace{stat: stat, reads: isReader(name)}
		said, _ := readRecord(data, stat.Mtime)
		if holder, err := records.ParseHolder(said); err == nil {
			p.holder, p.ours = holder, true
		}
		places = append(places, p)
	}
	return places, nil
}

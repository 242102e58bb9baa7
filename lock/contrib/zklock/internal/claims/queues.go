package claims

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Queue is the claims to a lock, in order: at least one.
type Queue struct {
	Key    string
	claims []QueuedClaim
}

// QueuedClaim is a claim as ReadQueues reads it.
type QueuedClaim struct {
	Record string // holder record; "" for zk.Lock and Curator
	Stat   *zk.Stat
	reads  bool
}

func (c QueuedClaim) isReader() bool { return c.reads }

// Holders are the claims that hold the lock.
func (q *Queue) Holders() []QueuedClaim {
	return q.claims[:claimlist.Holders(q.claims, QueuedClaim.isReader)]
}

// Waiting are the claims behind those that hold the lock.
func (q *Queue) Waiting() []QueuedClaim {
	return q.claims[claimlist.Holders(q.claims, QueuedClaim.isReader):]
}

// ReadBase returns the base of the tokens; 0 if none was ever granted.
func ReadBase(conn *zk.Conn, root string) (uint64, error) {
	data, _, err := conn.Get(root + "/" + baseName)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return 0, err
	}
	return parseBase(data), nil
}

// ReadQueues reads the queues of all locks below a root, or only the claims that hold them.
func ReadQueues(ctx context.Context, conn *zk.Conn, root string, holdersOnly bool) ([]Queue, error) {
	if _, err := conn.Sync(root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err // without a sync this server may lag behind
	}
	names, _, err := conn.Children(root)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	var mu sync.Mutex
	var all []Queue
	err = claimlist.Parallel(len(names), func(i int) error {
		name := names[i]
		key, err := url.PathUnescape(name)
		if err != nil || name == baseName || strings.HasPrefix(name, slotsName) {
			return nil
		}
		read, err := readClaims(ctx, conn, root+"/"+name, holdersOnly)
		if err != nil || len(read) == 0 {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, Queue{key, read})
		return nil
	})
	slices.SortFunc(all, func(a, b Queue) int { return strings.Compare(a.Key, b.Key) })
	return all, err
}

// readClaims reads the claims of a queue. It skips claims that end meanwhile, and starts over
// if the first one does.
func readClaims(ctx context.Context, conn *zk.Conn, dir string, holdersOnly bool) ([]QueuedClaim, error) {
	for range tries {
		names, _, err := conn.Children(dir)
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		queue := queueOf(names)
		if holdersOnly {
			queue = queue[:claimlist.Holders(queue, isReader)]
		}
		claims, err := readData(ctx, conn, dir, queue)
		if !errors.Is(err, zk.ErrNoNode) {
			return claims, err
		}
	}
	return nil, nil // it changes hands faster than it can be read
}

// readData fails with zk.ErrNoNode if the first claim has ended.
func readData(ctx context.Context, conn *zk.Conn, dir string, queue []string) (claims []QueuedClaim, err error) {
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
		claims = append(claims, QueuedClaim{Record: parse(data, stat.Mtime).holder, Stat: stat, reads: isReader(name)})
	}
	return claims, nil
}

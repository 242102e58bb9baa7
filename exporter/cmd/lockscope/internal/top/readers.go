package top

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// maxReaders bounds how many readers of a lock are read on one node. Of more, only the number is known.
const maxReaders = 100

// hashOn is the readers of a lock on one node; Fields is nil if they are too many.
type hashOn struct {
	listing.NodeReaders
	size int64
}

// readReaders reads the locks that are hashes, which is how readers hold a read/write lock. It returns what the nodes
// have, by the index of the lock.
func (s *redisSet) readReaders(ctx context.Context, ask []asker, all []listing.WaitedFor, hashes [][]bool,
) map[int][]hashOn {
	found := make(map[int][]hashOn)
	var mu sync.Mutex
	s.each(ctx, ask, "read readers", func(ctx context.Context, i int) error {
		sizes, err := sizesOf(ctx, ask[i], all, hashes[i])
		if redis.HasErrorPrefix(err, "NOPERM") {
			return nil // an earlier version needed fewer rights: the readers stay unknown
		}
		if err != nil || len(sizes) == 0 {
			return err
		}
		fields, ttls := make(map[int]*redis.MapStringStringCmd), make(map[int]*redis.DurationCmd)
		_, err = ask[i].cmd.Pipelined(ctx, func(p redis.Pipeliner) error {
			for k, size := range sizes {
				ttls[k] = p.PTTL(ctx, all[k].Key)
				if size <= maxReaders {
					fields[k] = p.HGetAll(ctx, all[k].Key)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for k, size := range sizes {
			h := hashOn{size: size}
			h.TTL = ttls[k].Val()
			if cmd := fields[k]; cmd != nil {
				for name, value := range cmd.Val() {
					h.Fields = append(h.Fields, [2]string{name, value})
				}
			}
			found[k] = append(found[k], h)
		}
		return nil
	})
	return found
}

// sizesOf counts the fields of each hash.
func sizesOf(ctx context.Context, ask asker, all []listing.WaitedFor, hashes []bool) (map[int]int64, error) {
	cmds := make(map[int]*redis.IntCmd)
	for k, is := range hashes {
		if is {
			cmds[k] = nil
		}
	}
	if len(cmds) == 0 {
		return nil, nil
	}
	_, err := ask.cmd.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k := range cmds {
			cmds[k] = p.HLen(ctx, all[k].Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sizes := make(map[int]int64, len(cmds))
	for k, cmd := range cmds {
		sizes[k] = cmd.Val()
	}
	return sizes, nil
}

// readersOf combines the readers on the nodes into one lock; nil if there are none.
func readersOf(w *listing.WaitedFor, on []hashOn, of, silent int) *listing.Lock {
	if len(on) == 0 {
		return nil
	}
	l := &listing.Lock{Key: w.Key, Resource: w.Resource, Type: "hash", Of: of, Silent: silent}
	nodes := make([]listing.NodeReaders, 0, len(on))
	for _, h := range on {
		if h.size > maxReaders {
			l.Readers = &listing.Readers{Count: int(h.size)}
			l.Nodes, l.TTL = len(on), max(l.TTL, h.TTL)
			l.Hold = report.Hold{Holder: lock.Holder{Kind: lock.KindRead}, Format: report.FormatUnknown}
			return l
		}
		nodes = append(nodes, h.NodeReaders)
	}
	if !l.SetReaders(listing.JoinReaders(nodes, of, silent, time.Now())) {
		return nil
	}
	return l
}

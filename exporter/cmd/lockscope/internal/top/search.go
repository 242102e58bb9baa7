package top

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// The limits of what one refresh searches on one node.
const (
	pageSize   = 500 // keys a SCAN looks at, during which the server answers nobody else
	MaxPages   = 40  // SCAN calls
	searchTime = 150 * time.Millisecond
)

// search is a walk through the keys of one node, some in each refresh. Only the task of its set uses it.
type search struct {
	cursor uint64
	pages  int64     // of the pass under way
	began  time.Time // of the pass under way; zero: none is
	ended  time.Time // of the last whole pass; zero: none was
	took   time.Duration
}

// step continues the pass and returns the locks that have a queue. One step ends at most one pass.
func (s *search) step(ctx context.Context, n *node) (locks []string, err error) {
	start := time.Now()
	if s.began.IsZero() {
		s.began, s.pages = start, 0
	}
	for range MaxPages {
		keys, next, err := n.client.Scan(ctx, s.cursor, redlock.QueueKey("*"), pageSize).Result()
		if err != nil {
			return locks, err
		}
		for _, key := range keys {
			if lock, ok := redlock.LockOfQueue(key); ok {
				locks = append(locks, lock)
			}
		}
		s.pages++
		if s.cursor = next; next == 0 {
			s.ended = time.Now()
			s.took, s.began = s.ended.Sub(s.began), time.Time{}
			return locks, nil
		}
		if time.Since(start) > searchTime {
			break
		}
	}
	return locks, nil
}

// progress adds how far the search is on one node.
func (s *search) progress(to *screen.Scan, info string, db int, first bool) {
	keys, _, _ := redisinfo.Parse(info).Keyspace(db)
	done := 1.0
	if !s.began.IsZero() {
		done = min(0.99, float64(s.pages*pageSize)/float64(max(keys, 1)))
	}
	took := s.took
	if !s.began.IsZero() && took == 0 && done > 0 {
		took = time.Duration(float64(time.Since(s.began)) / done)
	}
	to.Keys, to.PassTime = max(to.Keys, keys), max(to.PassTime, took)
	if first || done < to.Done {
		to.Done = done
	}
	if first || s.ended.Before(to.Last) {
		to.Last = s.ended
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// faults leaves out what these servers cannot or must not suffer.
func (s *redisNodes) faults(f *faults) []fault {
	crash := fault{0.40, "crashed holder", f.crash(fmt.Sprintf("its keys stay for a TTL of %v", s.cfg.ttl))}
	if s.own == nil {
		return []fault{crash}
	}
	eternal := fault{0.10, "key without TTL", s.plantEternalKey(f)}
	majority := fault{0.62, "majority paused", f.outage(s.majority())}
	if len(s.urls) < 3 {
		return []fault{eternal, crash, majority}
	}
	node := s.own.Nodes()[1]
	paused := f.disrupt(disruption{
		word: "PAUSE", what: fmt.Sprintf("node %s hangs for %v; the other %d go on", node.Addr(), f.brief(),
			len(s.urls)-1),
		take: node.Pause, giveBack: node.Resume, backWord: "RESUME",
		back: fmt.Sprintf("node %s answers again", node.Addr()),
		did:  fmt.Sprintf("one of %d hung for", len(s.urls)),
	})
	return []fault{eternal, {0.20, "paused node", paused}, crash, majority}
}

// majority is so many nodes that no lease can be renewed and none acquired without them.
func (s *redisNodes) majority() outage {
	all := s.own.Nodes()
	hung := all[(len(all)-1)/2:]
	o := outage{
		hang: fmt.Sprintf("%d of %d nodes hang", len(hung), len(all)),
		back: fmt.Sprintf("%d of %d nodes answer again", len(all), len(all)),
		they: "the nodes",
	}
	for _, n := range hung {
		o.hung = append(o.hung, n)
	}
	return o
}

// plantEternalKey leaves a lock as a library without TTLs would.
func (s *redisNodes) plantEternalKey(f *faults) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		const resource = "legacy-import"
		key := s.prefix + resource
		err := s.each(ctx, func(ctx context.Context, node *redis.Client) error {
			return node.Set(ctx, key, "another library", 0).Err()
		})
		if err != nil {
			return "", err
		}
		f.out.event(yellow, "PLANT", "another library sets %s on every node, without a TTL", key)
		held, err := f.refused(ctx, "legacy-1", resource)
		if err != nil {
			return "", fmt.Errorf("a NoWait attempt on %s: %w", key, err)
		}
		f.out.event(yellow, "HELD", "%v", held)
		return fmt.Sprintf("%s is blocked for good; NoWait says so at once instead of waiting", resource), nil
	}
}

// refused is the error of a NoWait attempt on a held resource.
func (f *faults) refused(ctx context.Context, instance, resource string) (*lock.HeldError, error) {
	locker, err := f.observatory.process(f.backend, instance)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		_, err = locker.Acquire(ctx, resource, lock.NoWait())
		// On a busy machine too few nodes may have answered in time to say anything.
		if !errors.Is(err, lock.ErrNoQuorum) || time.Since(began) > f.cfg.ttl {
			break
		}
	}
	if closed := locker.Close(); closed != nil {
		return nil, closed
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return held, nil
	}
	return nil, err
}

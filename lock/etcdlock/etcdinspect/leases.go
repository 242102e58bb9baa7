package etcdinspect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// leaseParallel bounds the concurrent requests for the TTL of a lease.
const leaseParallel = 8

// judgeLeases finds leases that were granted for too long: the lock of a dead process stays for that long.
func (s *leakScan) judgeLeases(ctx context.Context) error {
	if !s.rules.Wants(inspect.LongTTL) {
		return nil
	}
	granted, err := s.readLeases(ctx)
	if err != nil {
		return fmt.Errorf("read leases: %w", unanswered(err))
	}
	for _, k := range s.keys {
		g, there := granted[k.lease]
		if there && g.granted > s.rules.MaxTTL {
			k.ttl = g.left
			s.add(inspect.LongTTL, k, "its lease was granted for %s, longer than the limit of %s", inspect.Whole(g.granted),
				inspect.Whole(s.rules.MaxTTL))
		}
	}
	return nil
}

type lease struct{ granted, left time.Duration }

// readLeases asks for each lease once. Those that have ended are missing.
func (s *leakScan) readLeases(ctx context.Context) (map[int64]lease, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all, asked := make(map[int64]lease), map[int64]bool{0: true}
	slots := make(chan struct{}, leaseParallel)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, k := range s.keys {
		if asked[k.lease] || ctx.Err() != nil {
			continue
		}
		asked[k.lease] = true
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			err := retry(ctx, func(ctx context.Context) error {
				resp, err := s.inspector.client.TimeToLive(ctx, clientv3.LeaseID(k.lease))
				if err == nil && resp.TTL >= 0 {
					mu.Lock()
					defer mu.Unlock()
					all[k.lease] = lease{time.Duration(resp.GrantedTTL) * time.Second, time.Duration(resp.TTL) * time.Second}
				}
				return err
			})
			if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
				cancel(err)
			}
		})
	}
	asking.Wait()
	return all, context.Cause(ctx)
}

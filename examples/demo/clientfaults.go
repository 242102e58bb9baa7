package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// crashHolder lets a process die while it holds what everybody wants.
func (f *faults) crashHolder(ctx context.Context) (string, error) {
	const instance, resource = "importer-1", "order:1001"
	locker, lease, err := f.hold(ctx, instance, resource)
	if err != nil {
		return "", err
	}
	grants, unfollow := f.ledger.follow(resource)
	defer unfollow()
	crashed := time.Now()
	// Close without Release is what a crash looks like from outside: no renewal, no
	// connection, and keys that stay.
	if err := locker.Close(); err != nil {
		return "", err
	}
	f.ledger.ended(lease, false)
	f.out.event(yellow, "CRASH", "%s vanishes holding %s; its keys stay for a TTL of %v", instance, resource, f.cfg.ttl)

	select {
	case first := <-grants:
		f.out.event(green, "GRANT", "%s to %s, %s after the crash", resource, first.instance, short(time.Since(crashed)))
		waits := waitsOf(ctx, first, grants, f.cfg.ttl)
		return fmt.Sprintf("%s died holding %s; waited for it: %s", instance, resource, strings.Join(waits, ", ")), nil
	case <-ctx.Done():
		return "", nil
	}
}

// waitsOf says which instances had to wait for a lock that was blocked for a TTL,
// in the order in which they were served: first, and those who follow soon.
func waitsOf(ctx context.Context, first grant, grants <-chan grant, ttl time.Duration) []string {
	waits := []string{first.instance + " " + short(first.waited)}
	served := map[string]bool{first.instance: true}
	calm := time.NewTimer(min(ttl/2, 500*time.Millisecond))
	defer calm.Stop()
	for {
		select {
		case g := <-grants:
			if !served[g.instance] && g.waited > ttl/4 {
				served[g.instance] = true
				waits = append(waits, g.instance+" "+short(g.waited))
			}
		case <-calm.C:
			return waits
		case <-ctx.Done():
			return waits
		}
	}
}

// plantEternalKey leaves a lock as a library without TTLs would.
func (f *faults) plantEternalKey(ctx context.Context) (string, error) {
	const resource = "legacy-import"
	key := f.servers.prefix + resource
	err := f.servers.each(ctx, func(ctx context.Context, node *redis.Client) error {
		return node.Set(ctx, key, "another library", 0).Err()
	})
	if err != nil {
		return "", err
	}
	f.out.event(yellow, "PLANT", "another library sets %s on every node, without a TTL", key)
	locker, err := f.observatory.process(f.servers, "legacy-1")
	if err != nil {
		return "", err
	}
	for began := time.Now(); ; {
		_, err = locker.Acquire(ctx, resource, lock.NoWait())
		// On a busy machine too few nodes may have answered in time to say anything.
		if !errors.Is(err, lock.ErrNoQuorum) || time.Since(began) > f.cfg.ttl {
			break
		}
	}
	if closed := locker.Close(); closed != nil {
		return "", closed
	}
	var held *lock.HeldError
	if !errors.As(err, &held) {
		return "", fmt.Errorf("a NoWait attempt on %s: %w", key, err)
	}
	f.out.event(yellow, "HELD", "%v", held)
	return fmt.Sprintf("%s is blocked for good; NoWait says so at once instead of waiting", resource), nil
}

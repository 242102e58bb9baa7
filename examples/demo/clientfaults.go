package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// crash is that a process dies while it holds what everybody wants; remains says what
// keeps the lock after that.
func (f *faults) crash(remains string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return f.crashHolder(ctx, remains) }
}

func (f *faults) crashHolder(ctx context.Context, remains string) (string, error) {
	const instance, resource = "importer-1", "order:1001"
	locker, lease, err := f.hold(ctx, instance, resource)
	if err != nil {
		return "", err
	}
	grants, unfollow := f.ledger.follow(resource)
	defer unfollow()
	crashed := time.Now()
	// Close without Release is what a crash looks like from outside: no renewal, no
	// connection, and a lock that stays.
	if err := locker.Close(); err != nil {
		return "", err
	}
	f.ledger.ended(lease, false)
	f.out.event(yellow, "CRASH", "%s vanishes holding %s; %s", instance, resource, remains)

	select {
	case first := <-grants:
		f.out.event(green, "GRANT", "%s to %s, %s after the crash", resource, first.instance,
			short(time.Since(crashed)))
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

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
)

// Crash is that a process dies while it holds what everybody wants; remains says what
// keeps the lock after that.
func (f *Faults) Crash(remains string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return f.crashHolder(ctx, remains) }
}

func (f *Faults) crashHolder(ctx context.Context, remains string) (string, error) {
	const instance, resource = "importer-1", workload.Contended
	locker, lease, err := f.hold(ctx, instance, resource)
	if err != nil {
		return "", err
	}
	grants, unfollow := f.Ledger.Follow(resource)
	defer unfollow()
	crashed := time.Now()
	// Close without Release is what a crash looks like from outside: no renewal, no
	// connection, and a lock that stays.
	if err := locker.Close(); err != nil {
		return "", err
	}
	f.Ledger.Ended(lease, false)
	f.Out.Event(screen.Yellow, "CRASH", "%s vanishes holding %s; %s", instance, resource, remains)

	select {
	case first := <-grants:
		f.Out.Event(screen.Green, "GRANT", "%s to %s, %s after the crash", resource, first.Instance,
			screen.Short(time.Since(crashed)))
		waits := waitsOf(ctx, first, grants, f.TTL)
		return fmt.Sprintf("%s died holding %s; waited for it: %s", instance, resource, strings.Join(waits, ", ")), nil
	case <-ctx.Done():
		return "", nil
	}
}

// waitsOf says which instances had to wait for a lock that was blocked for a TTL,
// in the order in which they were served: first, and those who follow soon.
func waitsOf(ctx context.Context, first ledger.Grant, grants <-chan ledger.Grant, ttl time.Duration) []string {
	waits := []string{first.Instance + " " + screen.Short(first.Waited)}
	served := map[string]bool{first.Instance: true}
	calm := time.NewTimer(min(ttl/2, 500*time.Millisecond))
	defer calm.Stop()
	for {
		select {
		case g := <-grants:
			if !served[g.Instance] && g.Waited > ttl/4 {
				served[g.Instance] = true
				waits = append(waits, g.Instance+" "+screen.Short(g.Waited))
			}
		case <-calm.C:
			return waits
		case <-ctx.Done():
			return waits
		}
	}
}

package redlock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealReconfigure grows a set of three nodes to five and shrinks it again, while a lease is held and an older
// process goes on.
func TestRealReconfigure(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 5)
	three := &realNodes{t: t, servers: f.servers[:3], admin: f.admin[:3]}
	three.vouchForAll()
	// New ones each time: a finding against a node is trusted for a second.
	of3 := func() *engine.Engine { return guardedLocker(t, three.clients()) }
	of5 := func() *engine.Engine { return guardedLocker(t, f.clients()) }
	old := of3()
	lease := acquire(t, old, "job", lock.TTL(longTTL), lock.NoRenew())

	small, large := redlock.Configuration{Nodes: three.clients()}, redlock.Configuration{Nodes: f.clients()}
	away, err := redlock.Reconfigure(t.Context(), small, large)
	must(t, err)
	if len(away) > 0 {
		t.Errorf("away: %v", away)
	}
	wantNoSecondLease(t, lease, of5(), driver.ErrQuarantined)
	_, _ = refused(t, old, "other", redlock.ErrOtherConfiguration, lock.ErrNoQuorum)
	wantErr(t, lease.Extend(t.Context()), redlock.ErrOtherConfiguration)

	_, err = redlock.Reconfigure(t.Context(), large, small)
	must(t, err)
	wantNoSecondLease(t, lease, of5(), redlock.ErrOtherConfiguration)
	wantNoSecondLease(t, lease, of3(), driver.ErrQuarantined)

	same := redlock.Configuration{Nodes: three.clients(), Options: []lock.Option{lock.WithMaxTTL(2 * longTTL)}}
	_, err = redlock.Reconfigure(t.Context(), same, same)
	wantErr(t, err, redlock.ErrStaleConfiguration)
	_, err = redlock.Reconfigure(t.Context(), small, same)
	must(t, err)
	_, err = refused(t, of3(), "other", redlock.ErrOtherConfiguration)
	wantText(t, err, "max TTL 1m0s", "max TTL 2m0s")
}

package redlock_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// leaveUnfinished leaves the marks of a change from all nodes to the first few on the nodes named, as a Reconfigure does
// that ends in the first of its rounds.
func (f *realNodes) leaveUnfinished(to int, nodes ...int) {
	f.t.Helper()
	var names []string
	for _, s := range f.servers[:to] {
		names = append(names, s.Addr())
	}
	next := string(guard.NewFingerprint(names, lock.DefaultMaxTTL))
	for _, i := range nodes {
		read, err := f.admin[i].Get(f.t.Context(), guard.MarkerKey).Result()
		must(f.t, err)
		fields := strings.Split(read, "|")
		began := time.Now().Add(-time.Minute).UnixMicro()
		mark := fmt.Sprintf("changing|%s|%s|0|change-ended.%d|60602|0|0|%s", next, fields[2], began, fields[1])
		must(f.t, f.admin[i].Set(f.t.Context(), guard.MarkerKey, mark, 0).Err())
	}
}

// TestRealRestartInAnUnfinishedChange: two of five nodes were marked for a set of three when the change ended, and then
// restart. A majority of the old set still votes, so the restart must not make them voters of the new one.
func TestRealRestartInAnUnfinishedChange(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 5, appendOnly())
	f.vouchForAll()
	three := &realNodes{t: t, servers: f.servers[:3], admin: f.admin[:3]}
	f.leaveUnfinished(3, 0, 1)
	f.kill(0, 1)
	f.restart(0, 1)
	acquire(t, guardedLocker(t, f.clients()), "job", lock.TTL(longTTL), lock.NoRenew())

	_, err := refused(t, guardedLocker(t, three.clients()), "job", driver.ErrQuarantined)
	wantText(t, err, "a change to this configuration is not finished")
	for i := range 2 {
		text, err := f.admin[i].Get(t.Context(), guard.MarkerKey).Result()
		must(t, err)
		if m := stored.ReadMarker(text, "another process", 0); m.State != stored.MarkerChanging {
			t.Errorf("node %d: %q is %v", i, text, m.State)
		}
	}

	_, err = redlock.Reconfigure(t.Context(), redlock.Configuration{Nodes: f.clients()},
		redlock.Configuration{Nodes: three.clients()})
	must(t, err)
	_, err = refused(t, guardedLocker(t, three.clients()), "job", driver.ErrQuarantined)
	wantText(t, err, "until every lock that it may have lost has expired")
}

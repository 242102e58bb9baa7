package scanner_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

// TestLeakedPermit: a permit whose TTL somebody took away, as a snapshot of a persisted key does, is found, and the
// finding names the semaphore and the slot. So is the lease of an election that is held too long.
func TestLeakedPermit(t *testing.T) {
	nodes := startNodes(t, 1)
	l, err := redlock.New(nodes.clients, redlock.WithRestartQuarantine(0))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	permit := func(o *lock.AcquireOptions) { o.Kind, o.Slots = lock.KindSemaphore, 5 }
	for _, resource := range []string{"exports#2", "exports#3"} {
		_, err = l.Acquire(t.Context(), resource, permit, lock.NoRenew(), lock.TTL(time.Minute))
		must(t, err)
	}
	_, err = l.Acquire(t.Context(), "billing", func(o *lock.AcquireOptions) { o.Kind = lock.KindElection },
		lock.NoRenew(), lock.TTL(time.Minute))
	must(t, err)
	for _, key := range []string{"lock:exports#3", "lock:billing"} {
		must(t, nodes.clients[0].Persist(t.Context(), key).Err())
	}
	r := sweep(t, newScanner(t, nodes.clients, fast()...))
	wantFindings(t, "a leaked permit and a leaked leadership", r.Findings, "no_ttl lock:billing", "no_ttl lock:exports#3")
	f := find(t, r.Findings, scanner.NoTTL, "lock:exports#3")
	const leak = "its TTL is -1: it stays until its holder or a person deletes it"
	if f.Evidence != "slot 3 of semaphore exports: "+leak || f.Hold.Kind != lock.KindSemaphore || f.Hold.Slots != 5 {
		t.Errorf("%+v", f)
	}
	if f := find(t, r.Findings, scanner.NoTTL, "lock:billing"); f.Evidence != "election billing: "+leak {
		t.Errorf("%+v", f)
	}
}

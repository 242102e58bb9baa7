package engine_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestAQuorumStandsBehindTheFence: if counters differ, the lowest is raised. Otherwise the next grant would continue
// from there.
func TestAQuorumStandsBehindTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		const ahead = uint64(7e15) // ahead of every clock: a counter's floor would hide it
		for i, s := range o.servers {
			s.SetCounter("lock:job", ahead+uint64(1000*i))
		}
		o.servers[0].Crash()
		for range 3 {
			lease, err := o.engine.Acquire(t.Context(), "job", lock.NoWait())
			if err != nil {
				t.Fatal(err)
			}
			behind := 0
			for _, s := range o.servers[1:] {
				if s.Counter("lock:job") < lease.Fence() {
					behind++
				}
			}
			if behind > 0 {
				t.Errorf("fence %d, and a server of the quorum counts on from below it", lease.Fence())
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAQuorumStandsBehindTheRun: the end of the run is raised, too, before any of its fences is used.
func TestAQuorumStandsBehindTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t, lock.WithPollInterval(time.Hour))
		o.servers[0].Crash()
		first, err := o.engine.Acquire(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		// The counters differ by more than the length of a run, but are not so far ahead of the clock that no run is
		// possible.
		o.servers[1].SetCounter("lock:job", uint64(time.Now().Add(time.Second/2).UnixMicro()))
		served := make(chan lock.Lease)
		for range 4 {
			go func() {
				lease, err := o.engine.Acquire(t.Context(), "job")
				if err != nil {
					t.Error(err)
				}
				served <- lease
			}()
			synctest.Wait()
		}
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		var fences []uint64
		for range 4 {
			lease := <-served
			fences = append(fences, lease.Fence())
			for _, s := range o.servers[1:] {
				if c := s.Counter("lock:job"); c < lease.Fence() {
					t.Errorf("fence %d, and %s counts on from %d", lease.Fence(), s.Name(), c)
				}
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if !slices.IsSorted(fences) || fences[3] != fences[0]+3 {
			t.Errorf("fences %d are not of one run", fences)
		}
	})
}

// TestARaiseThatIsRefusedIsNoVote: the node that was behind forgot the grant before it was raised. Its counter does not
// stand behind the fence, and no other node's replaces it.
func TestARaiseThatIsRefusedIsNoVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		o.servers[0].Crash()
		behind := o.servers[1]
		o.servers[2].SetCounter("lock:job", 7e15)
		o.beforeRaise = func() {
			behind.Crash()
			behind.RestartEmpty(0)
		}
		lease, err := o.engine.Acquire(t.Context(), "job", lock.NoWait())
		if err == nil {
			t.Fatalf("fence %d, and a server of the quorum counts on from %d", lease.Fence(),
				behind.Counter("lock:job"))
		}
		if !errors.Is(err, lock.ErrNoQuorum) || !errors.Is(err, lock.ErrNotHeld) {
			t.Error(err)
		}
	})
}

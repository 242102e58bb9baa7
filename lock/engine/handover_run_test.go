package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// shortRun is a node that reserves only so many fences, whatever the request asks for.
type shortRun struct {
	driver.BlockingNode
	most uint64
}

func (n shortRun) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	req.Run = min(req.Run, n.most)
	return n.BlockingNode.Acquire(ctx, req)
}

// TestRunIsUsedUp: no lease gets a fence that no quorum stands behind. A driver that knows no runs reserves one fence,
// that of its grant.
func TestRunIsUsedUp(t *testing.T) {
	for most := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			var nodes []driver.Node
			for _, name := range []string{"a", "b", "c"} {
				s := locktest.NewFakeServer(name)
				defer s.Close()
				nodes = append(nodes, engine.Async(shortRun{s.Connect(1, locktest.Faults{}), most}))
			}
			e, err := engine.NewEngine(nodes)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var fences []uint64
			handed := 0
			ctx := locktrace.With(t.Context(), &locktrace.Trace{AcquireEnd: func(_ context.Context, e locktrace.AcquireEnd) {
				if fences = append(fences, e.Fence); e.HandedOver {
					handed++
				}
			}})
			first, err := e.Acquire(ctx, "job")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			for range 12 {
				go func() {
					done <- lock.Do(ctx, e, "job", func(context.Context, lock.Lease) error { return nil })
				}()
				synctest.Wait()
			}
			err = first.Release(t.Context())
			for range 12 {
				err = errors.Join(err, <-done)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range fences[1:] {
				if fences[i+1] <= fences[i] {
					t.Errorf("run of %d: fence %d after %d", most, fences[i+1], fences[i])
				}
			}
			if want := map[uint64]int{0: 0, 1: 0, 2: 6, 3: 8}[most]; handed != want {
				t.Errorf("run of %d: %d hand-overs, want %d", most, handed, want)
			}
		})
	}
}

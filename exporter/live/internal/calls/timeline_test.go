package calls

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestLateAnswersWhileACallEnds: a node answers at the moment in which the call is recorded, and is on the timeline,
// too.
func TestLateAnswersWhileACallEnds(t *testing.T) {
	const n, resource = 200, "order:1"
	var r *Register
	for i := range n {
		if i%100 == 0 { // of each minute, a hundred calls are among the slowest, which takes another lock
			r = NewRegister(waits.New(time.Minute), timeline.NewSlowest(100), profile.New(0), 32)
		}
		owner := &Owner{Instance: "orders/1", Records: &r.Records, Layer: decorate.NewLayer(nil)}
		m := r.Begin(t.Context(), owner, resource)
		m.Call.WaitStart(locktrace.WaitStart{Resource: resource, Kind: locktrace.WaitHolder})
		var late sync.WaitGroup
		var over atomic.Bool
		for range 4 {
			late.Go(func() {
				for !over.Load() {
					m.NodeEnd(time.Now(), 0, locktrace.NodeEnd{
						NodeStart: locktrace.NodeStart{Node: "a", Op: lock.OpAcquire}, Verdict: lock.VerdictFailed,
						Err: errors.New("late"),
					})
				}
			})
		}
		runtime.Gosched() // until answers come
		m.Failed(lock.ErrMaxWait, nil)
		over.Store(true)
		late.Wait()
		if i%100 == 99 {
			events, omitted := r.Timeline.Find(m.ID(), time.Now()).Copy(time.Time{}, 1<<20)
			if got := len(events) + int(omitted); got < 100*2 {
				t.Errorf("%d events", got)
			}
		}
	}
}

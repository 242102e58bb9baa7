package timeline

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// contendedSteps are those of a call that was refused by three nodes, waited, and got the lock.
func contendedSteps(i int) []Step {
	held := &lock.HeldError{Holder: lock.Holder{
		Instance: fmt.Sprintf("host-%d/12345", i), Since: time.Now().Add(time.Duration(i)), CallSite: "orders/pay.go:120",
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}}
	steps := []Step{
		{Kind: Attempt, Attempt: 1, Err: held, Blocker: held, Outcome: lock.VerdictRefused},
		{Kind: Wait, Name: "holder", Class: locktrace.WaitHolder, Blocker: held, Outcome: Woken},
		{Kind: Attempt, Attempt: 2, Outcome: lock.VerdictGranted},
	}
	for n := range 6 {
		steps = append(steps, Step{Kind: Vote, Name: "127.0.0.1:6379", Attempt: 1 + n/3,
			Op: lock.OpAcquire, Outcome: lock.VerdictGranted})
	}
	return steps
}

func trailOf(steps []Step) Trail { return Trail{steps: &buffer{steps: steps}} }

// TestBytes holds the package documentation to its numbers: contended calls behind holders of other processes, each of
// them another one, and nodes that fail with texts that are all different.
func TestBytes(t *testing.T) {
	if size := unsafe.Sizeof(Event{}); size != 112 {
		t.Errorf("an event has %d bytes", size)
	}
	if size := unsafe.Sizeof(Caller{}); size > 64 {
		t.Errorf("a caller has %d bytes", size)
	}
	for name, c := range map[string]struct {
		err   func(i int) error
		limit uint64
	}{
		"contention": {func(int) error { return nil }, 800 << 10},
		"failures":   {func(i int) error { return errors.New(fmt.Sprint(i) + string(make([]byte, 1000))) }, 2 << 20},
	} {
		tracks := make([]*Track, 0, 8)
		before := heap()
		for range cap(tracks) {
			r := New(1, nobodyHere)
			r.Contend(id(1), time.Now())
			track := r.Find(id(1), time.Now())
			for i := range MaxEvents {
				steps, of := contendedSteps(i), &Caller{Instance: "orders/1"}
				for n := range steps {
					if steps[n].Kind == Vote {
						steps[n].Err = c.err(i*10 + n)
					}
				}
				track.AddCall(Done{Of: of, Began: time.Now(), Ended: time.Now(), Trail: trailOf(steps)})
			}
			tracks = append(tracks, track)
		}
		if each := (heap() - before) / uint64(len(tracks)); each > c.limit {
			t.Errorf("%s: a resource takes %d bytes, want %d at most", name, each, c.limit)
		} else {
			t.Logf("%s: a resource takes %d bytes", name, each)
		}
		runtime.KeepAlive(tracks)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

//go:build !race

package sessions

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// crowd has 1,000 waiters. Each waits for two seconds at a time, at a random one of so many resources and call sites.
func crowd(second, resources, sites int) (all []*Wait) {
	for i := range 1000 {
		n := uint64((second+i)/2)<<10 + uint64(i)
		n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
		n = (n ^ n>>27) * 0x94d049bb133111eb
		n ^= n >> 31
		w := wait("order:"+strconv.FormatUint(n%uint64(resources), 36), "bill-1")
		w.CallSite = sitesOf[n>>40%uint64(sites)]
		all = append(all, w)
	}
	return all
}

var sitesOf = func() (all [20]string) {
	for i := range all {
		all[i] = fmt.Sprint("web/cart.go:", i)
	}
	return all
}()

// TestMemory has 1,000 waiters for an hour, and holds the History to the bytes that the package states.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		waits    func(second int) []*Wait
		most     uint64
		complete int // from this second at the latest
	}{
		"long":                   {func(int) []*Wait { return crowd(0, 8, 20) }, 100 << 10, 1},
		"short, 8 resources":     {func(s int) []*Wait { return crowd(s, 8, 20) }, 9 << 20, 1},
		"short, 1,000 resources": {func(s int) []*Wait { return crowd(s, 1000, 1) }, MaxBytes, 1200},
		"short, new resources":   {func(s int) []*Wait { return crowd(s, 1<<40, 1) }, MaxBytes, 3600 - 60},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			h := New(start)
			for s := 1; s <= 3600; s++ {
				h.Sample(at(s), c.waits(s))
			}
			bytes := heap() - before
			d := h.Between(at(3601), at(1), at(3601))
			from := max(int(d.CompleteFrom.Sub(start)/time.Second), 1)
			t.Logf("%d KB: %d runs, %d states, %d names; complete from second %d", bytes>>10, h.ended.n, h.states.len(),
				h.states.names.len(), from)
			if bytes > c.most {
				t.Errorf("%d bytes, want %d at most", bytes, c.most)
			}
			if from > c.complete {
				t.Errorf("complete from second %d, want %d at the latest", from, c.complete)
			}
			if got := h.Between(at(3601), d.CompleteFrom, at(3601)); got.Waited != 1000*(3601-from) {
				t.Errorf("%d s of waiting since it is complete, want %d", got.Waited, 1000*(3601-from))
			}
		})
	}
}

package instrument_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// lines are the JSON records that were logged.
func lines(t *testing.T, text *logText) (all []map[string]any) {
	t.Helper()
	in := json.NewDecoder(bytes.NewBufferString(text.String()))
	for in.More() {
		var r map[string]any
		must(t, in.Decode(&r))
		all = append(all, r)
	}
	return all
}

// TestLogOfAnOutage: three nodes fail while 200 leases are held and 50 callers keep trying. The log stays readable,
// counts what it left out, and does not contradict itself.
func TestLogOfAnOutage(t *testing.T) { synctest.Test(t, testLogOfAnOutage) }

func testLogOfAnOutage(t *testing.T) {
	const leases, callers = 200, 50
	var servers []*locktest.FakeServer
	var nodes []driver.Node
	for i := range 3 {
		f := locktest.NewFakeServer(fmt.Sprintf("redis%d", i))
		t.Cleanup(f.Close)
		servers, nodes = append(servers, f), append(nodes, engine.Async(f.Connect(uint64(i), locktest.Faults{})))
	}
	began := time.Now()
	// The bubble's clock: the machine's clock goes on meanwhile, and leases would be lost by it.
	engine, err := engine.NewEngine(nodes, engine.WithClock(func() time.Duration { return time.Since(began) }))
	must(t, err)
	text := new(logText)
	l := wrap(t, engine, instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
	var held []lock.Lease
	for i := range leases {
		lease, err := l.Acquire(t.Context(), fmt.Sprintf("order:%d", i), lock.TTL(2*time.Second))
		must(t, err)
		held = append(held, lease)
	}
	for _, s := range servers {
		s.Crash()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var calling sync.WaitGroup
	for i := range callers {
		calling.Go(func() {
			for ctx.Err() == nil {
				_, _ = l.Acquire(ctx, fmt.Sprintf("cart:%d", i), lock.MaxAttempts(1))
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	calling.Wait()
	for _, lease := range held {
		_ = lease.Release(t.Context())
	}
	time.Sleep(instrument.DefaultLogInterval)
	_, _ = l.Acquire(t.Context(), "cart:1", lock.MaxAttempts(1)) // its record counts the dropped records
	must(t, l.Flush(t.Context()))
	must(t, engine.Close())

	kinds, leftOut := make(map[string]int), make(map[string]float64)
	lost := make(map[any]bool)
	for _, r := range lines(t, text) {
		msg := r["msg"].(string)
		kinds[msg]++
		n, _ := r["left_out"].(float64)
		leftOut[msg] += n
		switch msg {
		case "lease lost":
			lost[r["resource"]] = true
		case "renewal failed, lease still valid":
			left, err := time.ParseDuration(r["validity"].(string))
			must(t, err)
			if left <= 0 || lost[r["resource"]] {
				t.Errorf("told of a lease that is over: %v", r)
			}
		}
	}
	total := 0
	for _, n := range kinds {
		total += n
	}
	if total > 20 || kinds["lease lost"] == 0 || kinds["no quorum"] == 0 ||
		kinds["renewal failed, lease still valid"] == 0 {
		t.Errorf("%d records: %v", total, kinds)
	}
	seen := gather(t, l, "acquisitions_total", "resource", "cart:*", "outcome", "no_quorum")
	// Calls that were cut short by their context are logged, too, and counted as timeouts.
	if got := float64(kinds["no quorum"]) + leftOut["no quorum"]; got < seen || got > seen+callers {
		t.Errorf("%v times no quorum told or left out, %v counted", got, seen)
	}
}

// TestFirstOfAKindIsNeverDropped, however slow the handler is.
func TestFirstOfAKindIsNeverDropped(t *testing.T) {
	text, free := new(logText), make(chan struct{})
	l := wrap(t, &noop{err: &lock.QuorumError{Op: lock.OpAcquire}}, instrument.WithMaxResources(1000),
		instrument.WithLogger(slog.New(stuck{text.logger().Handler(), free})))
	const resources = 500 // more than the queue holds
	for i := range resources {
		name := fmt.Sprintf("job %c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
		_, _ = l.Acquire(t.Context(), name)
		_, _ = l.Acquire(t.Context(), name)
	}
	close(free)
	must(t, l.Flush(t.Context()))
	if got := bytes.Count([]byte(text.String()), []byte("no quorum")); got != resources {
		t.Errorf("%d records, want one of each of %d", got, resources)
	}
}

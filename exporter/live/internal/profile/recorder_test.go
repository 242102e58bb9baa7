package profile

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

func waitOf(resource string, took time.Duration) Wait {
	return Wait{
		Of: text.ID{Resource: resource}, Took: took,
		Spent: Spent{{locktrace.WaitNetwork, "", took / 4}, {locktrace.WaitHolder, "a/1", took - took/4}},
	}
}

func inflict(r *Recorder, now time.Time, of text.ID, by Holder, waits int, took, span time.Duration) {
	r.Inflict(of, by, decorate.LineStretch{Stretch: decorate.Stretch{Took: took}, Until: now, Span: span, Waits: waits})
}

func total(p *Profile) (sum sample) {
	for _, s := range p.rows {
		sum.add(s)
	}
	return sum
}

// TestSamplingIsUnbiased: waits far below the rate add up to what they took.
func TestSamplingIsUnbiased(t *testing.T) {
	r := New(time.Millisecond)
	const n, took = 200_000, 20 * time.Microsecond
	for range n {
		r.Ended(waitOf("x", took))
	}
	r.Ended(waitOf("x", time.Second))
	got := total(r.ByWaiter(time.Now(), nil))
	want := sample{n + 1, n*took + time.Second}
	// 4,000 of them are recorded: the standard deviation is 1.6 %.
	if math.Abs(got.count/want.count-1) > 0.1 || math.Abs(float64(got.took-want.took)) > 0.1*float64(n*took) {
		t.Errorf("sampled %+v, want %+v", got, want)
	}
}

// TestWaitsUnderWayNeverShrink: what a profile counts before a call returns is in the next one too.
func TestWaitsUnderWayNeverShrink(t *testing.T) {
	r := New(time.Millisecond)
	short, long := waitOf("x", time.Microsecond), waitOf("y", time.Minute)
	stack := r.Stack()
	short.Stack, long.Stack = stack, stack
	before := r.ByWaiter(time.Now(), []Wait{short, long})
	if got := total(before); got != (sample{1, time.Minute}) {
		t.Errorf("under way %+v", got)
	}
	long = waitOf("y", 2*time.Minute)
	long.Stack = stack
	r.Ended(long)
	after := r.ByWaiter(time.Now(), nil)
	if got := total(after.Since(before)); got != (sample{0, time.Minute}) {
		t.Errorf("since then %+v", got)
	}
	if got := total(after.Since(after)); len(after.Since(after).rows) != 0 {
		t.Errorf("no time, but %+v", got)
	}
}

// TestBounds: more names than rows, and more stacks than are kept. No time is lost, and the longest waits have rows.
func TestBounds(t *testing.T) {
	r := New(time.Nanosecond)
	stacks := make(map[*Stack]bool)
	now := r.began
	const old = 800 // that made others wait for an hour each, long ago
	for i := range old {
		inflict(r, now, text.ID{Resource: fmt.Sprint("old", i)}, Holder{}, 1, time.Hour, 1)
	}
	now = now.Add(time.Hour)
	for i := range 4 * maxRows {
		w := waitOf(fmt.Sprintf("%s%d", strings.Repeat("x", 2000), i), time.Millisecond)
		w.Of.Backend, w.Spent[1].Instance = strings.Repeat("b", 300), strings.Repeat("i", 300)
		w.Stack = r.stacks.of([]uintptr{1, 2, uintptr(i)})
		stacks[w.Stack] = true
		r.Ended(w)
		now = now.Add(time.Second)
		inflict(r, now, w.Of, Holder{Instance: fmt.Sprint("a/", i)}, 1, 1000, 1)
		inflict(r, now, text.ID{Resource: "long"}, Holder{Instance: "a/1"}, 1, 9e6, 0)
	}
	if len(stacks) != maxStacks+1 || len(r.waiters) > maxRows+2 || len(r.holders) > maxRows+2 {
		t.Errorf("%d stacks, %d and %d rows", len(stacks), len(r.waiters), len(r.holders))
	}
	if got := total(r.ByWaiter(now, nil)); got != (sample{4 * maxRows, 4 * maxRows * time.Millisecond}) {
		t.Errorf("waiters %+v", got)
	}
	if got := total(r.ByHolder(now)); got != (sample{8*maxRows + old, 4*maxRows*9001*time.Microsecond + old*time.Hour}) {
		t.Errorf("holders %+v", got)
	}
	most := r.MostInflicted(now)
	if len(most) != 20 || most[0].Resource != "long" || most[0].Waits < 540 || most[0].Waits > 600 {
		t.Errorf("%d rows: %+v", len(most), most[0])
	}
}

// TestMemory is what the package documentation says.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		length int
		limit  float64
	}{"usual names": {20, 1.5e6}, "longest names": {2000, 6e6}} {
		before := heap()
		r := New(time.Nanosecond)
		for i := range maxRows {
			w := waitOf(fmt.Sprint(i, strings.Repeat("r", c.length)), time.Millisecond)
			long := strings.Repeat("n", min(c.length, longName))
			w.Spent = Spent{{locktrace.WaitHolder, long, time.Millisecond}}
			w.Of.Backend = long
			pcs := make([]uintptr, maxFrames)
			pcs[0] = uintptr(i)
			w.Stack = r.stacks.of(pcs)
			r.Ended(w)
			inflict(r, time.Now(), w.Of, Holder{Instance: long, CallSite: long}, 0, 1, 1)
		}
		got := float64(heap() - before)
		t.Logf("%s: %.2f MB", name, got/1e6)
		if got > c.limit {
			t.Errorf("%s: %.2f MB, want %.2f at most", name, got/1e6, c.limit/1e6)
		}
		runtime.KeepAlive(r)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFewHoldersOfACall: one that meets many of them has a few rows, and no time is lost.
func TestFewHoldersOfACall(t *testing.T) {
	var s Spent
	for i := range 100 {
		s.Add(Stretch{locktrace.WaitHolder, fmt.Sprint(i), time.Second})
		s.Add(Stretch{locktrace.WaitNetwork, "", time.Second})
	}
	s.Add(Stretch{locktrace.WaitNoQuorum, "", -time.Second}) // a clock that steps
	sum := time.Duration(0)
	for _, row := range s {
		sum += row.Took
	}
	if len(s) > maxSpent+5 || sum != 200*time.Second {
		t.Errorf("%d rows of %v", len(s), sum)
	}
}

func TestOperation(t *testing.T) {
	for name, want := range map[string]string{
		"order:1001": "order:*", "order:1001:items": "order:*:items", "job": "job", "shard-12": "shard-*", "": "",
		"2024/05/report.csv": "*/*/report.csv", "tenant:5f3a-77": "tenant:*", "größe:٣": "größe:*",
	} {
		if got := Operation(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

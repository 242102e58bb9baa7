package ledger

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestQuantilesAreTheSortedOnesWithinABucket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var h histogram
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(random.ExpFloat64() * float64(50*time.Millisecond)).Truncate(time.Microsecond)
		h.add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.9999, 1} {
		exact := all[max(0, int(q*float64(len(all))+0.999999)-1)]
		got := h.quantile(q)
		if got < exact || got > exact+exact/100+time.Microsecond {
			t.Errorf("quantile(%v) = %v, sorted %v", q, got, exact)
		}
	}
	if h.max != all[len(all)-1] {
		t.Errorf("max %v, want %v", h.max, all[len(all)-1])
	}
}

func TestBucketsAreContiguous(t *testing.T) {
	for us := uint64(0); us < 1<<20; us++ {
		i := bucketOf(us)
		if us > endOf(i) || i > 0 && us <= endOf(i-1) {
			t.Fatalf("%d is in bucket %d, which ends at %d", us, i, endOf(i))
		}
	}
}

func TestHistogramMerges(t *testing.T) {
	var a, b, empty histogram
	a.add(time.Millisecond)
	b.add(time.Second)
	a.merge(&b)
	a.merge(&empty)
	if a.total != 2 || a.max != time.Second || a.quantile(0.5) > 2*time.Millisecond || a.quantile(1) != time.Second {
		t.Errorf("total %d, max %v, p50 %v", a.total, a.max, a.quantile(0.5))
	}
	if empty.quantile(0.5) != 0 {
		t.Error("an empty histogram has a median")
	}
}

func TestTable(t *testing.T) {
	busy := &entry{resource: "order:1001", acquisitions: 3, handoffs: 2}
	broken := &entry{resource: "stock:42", acquisitions: 1, lost: 1, disordered: 1, overlaps: 2}
	for _, d := range []time.Duration{1500 * time.Microsecond, 25 * time.Millisecond, 2 * time.Second} {
		busy.waits.add(d)
	}
	got := strings.Join(table([]*entry{busy, broken}), "\n")
	want := `
resource         acquisitions  wait p50       p99       max  hand-offs   lost   fences in order
order:1001                  3      25ms     2.00s     2.00s          2      0   yes
stock:42                    1     0.0ms     0.0ms     0.0ms          0      1   NO, 1 not; HELD TWICE 2 times
all                         4      25ms     2.00s     2.00s          2      1   NO, 1 not; HELD TWICE 2 times`
	if got != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:%s", got, want)
	}
}

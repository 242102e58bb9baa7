package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/outage"
)

// used returns a decorator with every metric.
func used(t *testing.T, opts ...instrument.Option) *instrument.Locker {
	next, odd := withOddNode(t)
	odd.skew.Store(int64(time.Millisecond))
	l := wrap(t, next, opts...)
	lease, err := l.Acquire(t.Context(), "order:1001")
	must(t, err)
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(context.Background()))
	eventually(t, "every node has voted", func() bool { return gather(t, l, "vote_margin") == 1 })
	return l
}

// TestCatalogue compares the tables of doc.go and README.md with the collected metrics.
func TestCatalogue(t *testing.T) { synctest.Test(t, testCatalogue) }

func testCatalogue(t *testing.T) {
	var code, readme []string
	l := used(t)
	holder, err := l.Acquire(t.Context(), "order:1001")
	must(t, err)
	if _, err := l.Acquire(t.Context(), "order:1001", lock.MaxWait(time.Second)); !errors.Is(err, lock.ErrMaxWait) {
		t.Fatal(err)
	}
	must(t, holder.Release(t.Context()))
	for name, kind := range map[string]lock.Kind{"billing": lock.KindElection, "pool#0": lock.KindSemaphore} {
		must(t, lock.Do(t.Context(), l, name, func(context.Context, lock.Lease) error { return nil },
			locktest.AsConstruct(kind, 2)))
	}
	l.Unprotected(t.Context(), outage.Run{Resource: "order:1001", Err: lock.ErrNoQuorum})
	for _, f := range families(t, l) {
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		row := fmt.Sprintf("%s %s %s", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ","))
		code = append(code, row)
		readme = append(readme, row+" "+f.GetHelp()+bounds(f))
	}
	same(t, "doc.go", code, table(t, "doc.go", "//\tdistributed_lock_", func(s string) []string {
		return append(strings.Fields(strings.TrimPrefix(s, "//"))[:2], strings.Join(strings.Fields(s)[3:], ""))
	}))
	same(t, "README.md", readme, table(t, "README.md", "| `distributed_lock_", func(s string) []string {
		cells := strings.Split(strings.Trim(s, "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		cells[2] = strings.ReplaceAll(cells[2], " ", "")
		return cells
	}))
}

func bounds(f *dto.MetricFamily) string {
	h := f.Metric[0].Histogram
	if h == nil {
		return ""
	}
	var all []string
	for _, b := range h.Bucket {
		all = append(all, fmt.Sprint(b.GetUpperBound()))
	}
	return " Buckets: " + strings.Join(all, " ") + "."
}

// table reads rows of name, type, labels and the rest.
func table(t *testing.T, file, prefix string, split func(string) []string) (rows []string) {
	text, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		cells := split(strings.TrimSpace(line))
		labels := strings.Split(cells[2], ",")
		slices.Sort(labels)
		cells[2] = strings.Join(labels, ",")
		rows = append(rows, strings.Join(cells, " "))
	}
	return rows
}

func same(t *testing.T, where string, code, told []string) {
	for _, row := range code {
		if !slices.Contains(told, row) {
			t.Errorf("%s does not tell of: %s", where, row)
		}
	}
	for _, row := range told {
		if !slices.Contains(code, row) {
			t.Errorf("%s tells of what is not there: %s", where, row)
		}
	}
}

func TestLint(t *testing.T) { synctest.Test(t, testLint) }

func testLint(t *testing.T) {
	for _, opts := range [][]instrument.Option{nil, {instrument.WithNativeHistograms()}} {
		problems, err := testutil.CollectAndLint(used(t, opts...))
		must(t, err)
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestNativeHistograms(t *testing.T) { synctest.Test(t, testNativeHistograms) }

func testNativeHistograms(t *testing.T) {
	m := find(t, used(t, instrument.WithNativeHistograms()), "wait_seconds", "resource", "order:*")
	if m == nil || m.Histogram.Schema == nil || len(m.Histogram.Bucket) != 8 {
		t.Errorf("wait_seconds is %v; both kinds of buckets expected", m)
	}
}

// TestShared wraps twice with one registry: by option, and after registering by hand.
func TestShared(t *testing.T) {
	r := prometheus.NewRegistry()
	a := wrap(t, &noop{}, instrument.WithRegisterer(r))
	b := wrap(t, &noop{err: errBoom}, instrument.WithRegisterer(prometheus.WrapRegistererWith(nil, r)))
	_, _ = a.Acquire(t.Context(), "x")
	_, _ = b.Acquire(t.Context(), "x")
	if n := gather(t, a, "wait_seconds", "resource", "x"); n != 2 {
		t.Errorf("%v waits in the shared metrics, want 2", n)
	}
	hand := prometheus.NewRegistry()
	first := wrap(t, &noop{})
	hand.MustRegister(first)
	second := wrap(t, &noop{}, instrument.WithRegisterer(hand))
	_, _ = second.Acquire(t.Context(), "x")
	if n := gather(t, first, "wait_seconds", "resource", "x"); n != 1 {
		t.Errorf("%v waits, want 1", n)
	}
}

// foreign has the descriptors of our collector, and is another one.
type foreign struct{ prometheus.Collector }

func TestConflicts(t *testing.T) {
	taken := prometheus.NewRegistry()
	taken.MustRegister(foreign{wrap(t, &noop{})})
	oneName := prometheus.NewRegistry()
	oneName.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "distributed_lock_held", Help: "mine"}))
	var none *prometheus.Registry
	for name, r := range map[string]prometheus.Registerer{"all names": taken, "one name": oneName,
		"nil registry": none} {
		if _, err := instrument.Wrap(&noop{}, instrument.WithRegisterer(r)); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

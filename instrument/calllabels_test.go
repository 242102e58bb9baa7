package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/instrument/internal/metrics"
	"github.com/lockscope/lockscope/lock"
)

// TestLabels: everything counted for a resource is counted under the label of the call, and nothing else is.
func TestLabels(t *testing.T) {
	l := wrap(t, inMemory(t), instrument.WithLabels("tenant_tier", "job"))
	gold := instrument.ContextWithLabel(t.Context(), "tenant_tier", "gold")
	gold = instrument.ContextWithLabel(gold, "undeclared", "x")
	must(t, lock.Do(gold, l, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		nightly := instrument.ContextWithLabel(ctx, "job", "nightly") // with the tier gold
		if _, err := l.Acquire(nightly, "order:1001", lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
			t.Error(err)
		}
		if n := gather(t, l, "held", "resource", "order:*", "tenant_tier", "gold", "job", ""); n != 1 {
			t.Errorf("%v are held", n)
		}
		return lease.Extend(ctx)
	}))
	use(t, l, "order:1002")
	for _, c := range []struct {
		name, tier, job string
		more            []string
		want            float64
	}{
		{"wait_seconds", "gold", "", nil, 1},
		{"wait_seconds", "gold", "nightly", nil, 1},
		{"wait_seconds", "", "", nil, 1},
		{"hold_seconds", "gold", "", nil, 1},
		{"held", "gold", "", nil, 0},
		{"waiting", "gold", "", nil, 0},
		{"acquisitions_total", "gold", "nightly", []string{"outcome", "contended"}, 1},
		{"acquisitions_total", "", "", []string{"outcome", "acquired"}, 1},
		{"extensions_total", "gold", "", []string{"outcome", "ok"}, 1},
	} {
		labels := append([]string{"resource", "order:*", "tenant_tier", c.tier, "job", c.job}, c.more...)
		if n := gather(t, l, c.name, labels...); n != c.want {
			t.Errorf("%s of %q is %v, want %v", c.name, labels, n, c.want)
		}
	}
	for _, f := range families(t, l) {
		names := labelNames(f.Metric[0])
		if slices.Contains(names, "resource") != slices.Contains(names, "tenant_tier") {
			t.Errorf("%s has the labels %v", f.GetName(), names)
		}
	}
}

func labelNames(m *dto.Metric) (names []string) {
	for _, l := range m.Label {
		names = append(names, l.GetName())
	}
	return names
}

// TestLabelValuesAreBounded, also if many calls bring new ones at the same time.
func TestLabelValuesAreBounded(t *testing.T) {
	const calls = 200
	l := wrap(t, &noop{}, instrument.WithLabels("tier"))
	var all sync.WaitGroup
	for i := range calls {
		ctx := instrument.ContextWithLabel(t.Context(), "tier", fmt.Sprint("tier-", i))
		all.Go(func() { pair(t, ctx, l) })
	}
	all.Wait()
	values, total := 0, uint64(0)
	for _, f := range families(t, l) {
		if f.GetName() != "distributed_lock_wait_seconds" {
			continue
		}
		for _, m := range f.Metric {
			values++
			total += m.Histogram.GetSampleCount()
		}
	}
	if values != metrics.MaxLabelValues+2 || total != calls { // and other, and the empty value
		t.Errorf("%d values with %d calls, want %d with %d", values, total, metrics.MaxLabelValues+2, calls)
	}
	other := gather(t, l, "wait_seconds", "resource", "order:*", "tier", "other")
	if overflow := gather(t, l, "label_overflow_total"); other != calls-metrics.MaxLabelValues || overflow != other {
		t.Errorf("%v calls are other, %v have overflown", other, overflow)
	}
	pair(t, instrument.ContextWithLabel(t.Context(), "tier", "\xff"+strings.Repeat("x", 10_000)), l)
	if n := gather(t, l, "wait_seconds", "resource", "order:*", "tier", "other"); n != other+1 {
		t.Errorf("%v calls are other", n)
	}
}

// TestIdleLabelValuesAreLetGo, whether or not their resource is in use. Values in use are kept.
func TestIdleLabelValuesAreLetGo(t *testing.T) { synctest.Test(t, testIdleLabelValuesAreLetGo) }

func testIdleLabelValuesAreLetGo(t *testing.T) {
	l := wrap(t, &noop{}, instrument.WithLabels("tier"), instrument.WithResources("order:1001"))
	tier := func(i int) context.Context {
		return instrument.ContextWithLabel(t.Context(), "tier", fmt.Sprint("tier-", i))
	}
	for i := range metrics.MaxLabelValues {
		pair(t, tier(i), l)
	}
	lease, err := l.Acquire(tier(0), "cart")
	must(t, err)
	time.Sleep(instrument.DefaultIdleResources + time.Minute)
	pair(t, tier(1), l)
	families(t, l) // a scrape
	pair(t, tier(99), l)
	for label, want := range map[string]float64{"tier-0": 0, "tier-1": 2, "tier-2": 0, "tier-99": 1, "other": 0} {
		if n := gather(t, l, "wait_seconds", "resource", "order:1001", "tier", label); n != want {
			t.Errorf("%v waits of %s, want %v", n, label, want)
		}
	}
	if n := gather(t, l, "held", "resource", "cart", "tier", "tier-0"); n != 1 {
		t.Error("a value is gone under which a lease is held")
	}
	must(t, lease.Release(t.Context()))
	time.Sleep(instrument.DefaultIdleResources + time.Minute)
	if find(t, l, "held", "resource", "cart", "tier", "tier-0") != nil ||
		find(t, l, "held", "resource", "cart", "tier", "") != nil {
		t.Error("a resource that nobody uses is still there")
	}
	if find(t, l, "held", "resource", "order:1001", "tier", "") == nil {
		t.Error("a reserved name is gone")
	}
}

// TestOptionWithLabels refuses names that cannot be a label, and a registry with other labels.
func TestOptionWithLabels(t *testing.T) {
	for _, names := range [][]string{{""}, {"resource"}, {"le"}, {"class"}, {"kind"}, {"end"}, {"leader"}, {"a", "a"}, {"a-b"}, {"1a"}, {"__a"}, {"ä"},
		{"a", "b", "c", "d"}} {
		if _, err := instrument.Wrap(&noop{}, instrument.WithLabels(names...)); !errors.Is(err,
			instrument.ErrInvalidOption) {
			t.Errorf("%q: %v", names, err)
		}
	}
	reg := instrument.WithRegisterer(prometheus.NewRegistry())
	wrap(t, &noop{}, reg, instrument.WithLabels("a", "b"))
	wrap(t, &noop{}, reg, instrument.WithLabels("b", "a"))
	if _, err := instrument.Wrap(&noop{}, reg); err == nil {
		t.Error("a decorator without the labels shares a registry with one that has them")
	}
}

// TestAttributesOfACall are on all of its spans and records, and on those of no other call.
func TestAttributesOfACall(t *testing.T) {
	s, log := new(spans), new(logText)
	l := wrap(t, inMemory(t), instrument.WithTracerProvider(s.provider()), instrument.WithLogger(log.logger()))
	ctx := instrument.ContextWithAttributes(t.Context(), attribute.String("tenant.id", "t-17"))
	ctx = instrument.ContextWithAttributes(ctx, attribute.Int("items", 3))
	lease, err := l.Acquire(ctx, "order:1001")
	must(t, err)
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	for _, name := range []string{"lock.acquire", "lock.extend", "lock.release"} {
		if !slices.ContainsFunc(s.named(name), func(span *span) bool { // nodes have spans of that name
			return attrs(span)["tenant.id"] == "t-17" && attrs(span)["items"] == "3"
		}) {
			t.Errorf("%s: %s", name, s.text())
		}
	}
	use(t, l, "order:1002")
	if strings.Count(s.text(), "t-17") != 3 {
		t.Errorf("the spans of another call: %s", s.text())
	}
	failing := wrap(t, &noop{err: &lock.QuorumError{Op: lock.OpAcquire, Nodes: 3, Quorum: 2}},
		instrument.WithLogger(log.logger()))
	_, err = failing.Acquire(ctx, "order:1003")
	if err == nil {
		t.Error("no error")
	}
	must(t, failing.Flush(t.Context()))
	if text := log.String(); !strings.Contains(text, "tenant.id=t-17 items=3 resource=order:1003") {
		t.Errorf("logged: %s", text)
	}
}

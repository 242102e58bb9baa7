package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/memlock"
)

func inMemory(t *testing.T) *engine.Engine {
	t.Helper()
	l, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l.Engine
}

// use acquires and releases a lock.
func use(t *testing.T, l lock.Locker, resource string) {
	t.Helper()
	must(t, lock.Do(t.Context(), l, resource, func(context.Context, lock.Lease) error { return nil }))
}

func waits(t *testing.T, l *instrument.Locker, label string) float64 {
	t.Helper()
	return gather(t, l, "wait_seconds", "resource", label)
}

// TestRejectedNamesTakeNoSlot: they are counted under one label.
func TestRejectedNamesTakeNoSlot(t *testing.T) {
	l := wrap(t, inMemory(t), instrument.WithMaxResources(1))
	for i := range 10 {
		if _, err := l.Acquire(t.Context(), fmt.Sprintf("{%c}", 'a'+i)); !errors.Is(err, lock.ErrInvalidResource) {
			t.Fatal(err)
		}
	}
	use(t, l, "orders")
	if waits(t, l, "orders") != 1 || waits(t, l, "invalid") != 10 ||
		gather(t, l, "failures_total", "resource", "invalid") != 10 {
		t.Error("names that were rejected have taken the slot, or were not counted")
	}
	if got := gather(t, l, "resource_overflow_total"); got != 0 {
		t.Errorf("overflow is %v", got)
	}
}

// TestIdleLabelsAreLetGo: their series are deleted, and their slots are free.
func TestIdleLabelsAreLetGo(t *testing.T) { synctest.Test(t, testIdleLabelsAreLetGo) }

func testIdleLabelsAreLetGo(t *testing.T) {
	l := wrap(t, inMemory(t), instrument.WithMaxResources(2), instrument.WithResources("vip"))
	use(t, l, "old")
	lease, err := l.Acquire(t.Context(), "held", lock.MaxHold(24*time.Hour))
	must(t, err)
	use(t, l, "late")
	if waits(t, l, "other") != 1 || gather(t, l, "resource_overflow_total") != 1 {
		t.Error("the third label did not overflow")
	}
	time.Sleep(instrument.DefaultIdleResources / 2)
	use(t, l, "old")
	time.Sleep(instrument.DefaultIdleResources/2 + time.Minute)
	if waits(t, l, "old") != 2 {
		t.Error("a label that was used half the time ago is gone")
	}
	time.Sleep(instrument.DefaultIdleResources)
	use(t, l, "late")
	for label, want := range map[string]float64{"held": 1, "late": 1, "other": 1} {
		if got := waits(t, l, label); got != want {
			t.Errorf("%v waits of %s, want %v", got, label, want)
		}
	}
	for _, f := range families(t, l) {
		for _, m := range f.Metric {
			for _, label := range m.Label {
				if label.GetValue() == "old" {
					t.Errorf("%s has a series of what is gone", f.GetName())
				}
			}
		}
	}
	if find(t, l, "wait_seconds", "resource", "vip") == nil {
		t.Error("a reserved label is gone")
	}
	must(t, lease.Release(t.Context()))
	if got := gather(t, l, "held", "resource", "held"); got != 0 {
		t.Errorf("%v leases are held", got)
	}
	time.Sleep(2 * instrument.DefaultIdleResources)
	if find(t, l, "held", "resource", "held") != nil {
		t.Error("the label of a lease that was released long ago is there")
	}
}

// TestReservedNames always have a slot, are not folded, and have series from the start.
func TestReservedNames(t *testing.T) {
	reg := prometheus.NewRegistry()
	l := wrap(t, inMemory(t), instrument.WithRegisterer(reg), instrument.WithMaxResources(0),
		instrument.WithResources("order:1001", "nightly"))
	for _, label := range []string{"order:1001", "nightly"} {
		if find(t, l, "failures_total", "resource", label) == nil {
			t.Errorf("%s is not there from the start", label)
		}
	}
	use(t, l, "order:1001")
	use(t, l, "order:1002")
	if waits(t, l, "order:1001") != 1 || waits(t, l, "other") != 1 {
		t.Error("a reserved name shares its label, or another has its own")
	}
	more := wrap(t, inMemory(t), instrument.WithRegisterer(reg), instrument.WithResources("daily"))
	use(t, more, "daily")
	if waits(t, l, "daily") != 1 {
		t.Error("what another decorator of the registry reserves is not honoured")
	}
	if _, err := instrument.Wrap(inMemory(t), instrument.WithResources("{a}")); !errors.Is(err,
		instrument.ErrInvalidOption) {
		t.Errorf("a name that no lock can have: %v", err)
	}
}

// TestSharedRegistryMustAgree: an option is applied or refused, never ignored.
func TestSharedRegistryMustAgree(t *testing.T) {
	for name, opt := range map[string]instrument.Option{
		"WithMaxResources":     instrument.WithMaxResources(7),
		"WithIdleResources":    instrument.WithIdleResources(time.Minute),
		"WithNativeHistograms": instrument.WithNativeHistograms(),
	} {
		reg := instrument.WithRegisterer(prometheus.NewRegistry())
		wrap(t, inMemory(t), reg)
		_, err := instrument.Wrap(inMemory(t), reg, opt)
		if !errors.Is(err, instrument.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
		reg = instrument.WithRegisterer(prometheus.NewRegistry())
		wrap(t, inMemory(t), reg, opt)
		wrap(t, inMemory(t), reg, opt)
		wrap(t, inMemory(t), reg) // asks for nothing
	}
}

package instrument_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestKind: spans and log records of a set's locks say so; those of a lock by itself have no kind.
func TestKind(t *testing.T) { synctest.Test(t, testKind) }

func testKind(t *testing.T) {
	s, text := new(spans), new(logText)
	l := wrap(t, locktest.NewFakes(t, 1)(t), instrument.WithTracerProvider(s.provider()),
		instrument.WithLogger(text.logger()), instrument.WithLogInterval(0))
	ctx, end := context.WithCancel(t.Context())
	set, err := lockset.Acquire(ctx, l, []string{"a", "b"})
	must(t, err)
	alone, err := l.Acquire(ctx, "alone")
	must(t, err)
	must(t, set.Release(t.Context()))
	must(t, alone.Release(t.Context()))
	end()
	for _, name := range []string{"lock.acquire", "lock.release"} {
		var kinds []string
		for _, span := range s.named(name) {
			of := attrs(span)
			kinds = append(kinds, of["distributed_lock.resource"]+"="+of["distributed_lock.kind"])
		}
		if len(kinds) != 3 || strings.Count(strings.Join(kinds, " "), "=set") != 2 || kinds[2] != "alone=" {
			t.Errorf("%s: kinds %q", name, kinds)
		}
	}
	kindOf := func(opts ...lock.AcquireOption) {
		lease, err := l.Acquire(t.Context(), "x", opts...)
		must(t, err)
		_, err = l.Acquire(lease.Context(), "x", append(opts, lock.FailOnDeadlock())...)
		if lock.ReasonOf(err) != lock.ReasonDeadlock {
			t.Error(err)
		}
		must(t, lease.Release(t.Context()))
	}
	kindOf()
	kindOf(lock.OfKind(lock.KindElection))
	must(t, l.Flush(t.Context()))
	if log := text.String(); strings.Count(log, "deadlock") < 2 || strings.Count(log, "kind=election") != 1 ||
		strings.Contains(log, "kind=\"\"") {
		t.Errorf("log: %s", log)
	}
}

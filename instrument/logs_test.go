package instrument_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// stuck is a handler that hangs until it is released.
type stuck struct {
	slog.Handler
	free chan struct{}
}

func (s stuck) Handle(ctx context.Context, r slog.Record) error {
	<-s.free
	return s.Handler.Handle(ctx, r)
}

// TestStuckHandler fails 300 acquires while the handler hangs: none waits for it, and a later record counts what was
// dropped.
func TestStuckHandler(t *testing.T) {
	text, free := new(logText), make(chan struct{})
	l := wrap(t, &noop{err: &lock.QuorumError{Resource: "x"}},
		instrument.WithLogger(slog.New(stuck{text.logger().Handler(), free})), instrument.WithLogInterval(0))
	began := time.Now()
	for range 300 {
		_, _ = l.Acquire(t.Context(), "x")
	}
	if took := time.Since(began); took > patience {
		t.Errorf("took %v", took)
	}
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Flush(hurried); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush says %v while the handler hangs", err)
	}
	close(free)
	if got := gather(t, l, "acquisitions_total", "resource", "x", "outcome", "no_quorum"); got != 300 {
		t.Errorf("%v counted, want 300", got)
	}
	must(t, l.Flush(t.Context()))
	if got := strings.Count(text.String(), "no quorum"); got < 100 || got >= 300 {
		t.Errorf("%d records after Flush, want what the queue holds", got)
	}
	eventually(t, "a later record says how many are missing", func() bool {
		_, _ = l.Acquire(t.Context(), "x")
		return strings.Contains(text.String(), "dropped=")
	})
}

func TestPanicsAreCounted(t *testing.T) {
	l := wrap(t, &noop{err: &lock.QuorumError{Resource: "x"}}, instrument.WithLogger(slog.New(panicking{})))
	_, _ = l.Acquire(t.Context(), "x")
	eventually(t, "the panic is counted", func() bool { return gather(t, l, "observer_panics_total") == 1 })
}

// TestLongWait is logged once, while the wait goes on. Short waits are not logged.
func TestLongWait(t *testing.T) { synctest.Test(t, testLongWait) }

func testLongWait(t *testing.T) {
	text := new(logText)
	fakes := locktest.NewFakes(t, 1, lock.WithInstance("billing/7"))
	holder := fakes(t)
	l := wrap(t, fakes(t), instrument.WithLogger(text.logger()), instrument.WithLongWait(30*time.Millisecond))
	waited := make(chan error, 1)
	must(t, lock.Do(t.Context(), holder, "x", func(context.Context, lock.Lease) error {
		go func() {
			waited <- lock.Do(t.Context(), l, "x", func(context.Context, lock.Lease) error { return nil })
		}()
		eventually(t, "the wait is told of",
			func() bool { return strings.Contains(text.String(), "still waiting for the lock") })
		if len(waited) != 0 {
			t.Error("told after the wait")
		}
		return nil
	}))
	must(t, <-waited)
	if log := text.String(); strings.Count(log, "still waiting") != 1 || !strings.Contains(log, "blocker=billing/7") {
		t.Errorf("log: %s", log)
	}
	eventually(t, "it is counted", func() bool { return gather(t, l, "long_waits_total", "resource", "x") == 1 })
}

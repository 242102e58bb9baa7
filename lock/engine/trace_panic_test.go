package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// panicky is a trace on which every hook panics.
func panicky() *locktrace.Trace {
	return &locktrace.Trace{
		AcquireStart: func(context.Context, locktrace.AcquireStart) context.Context { panic("acquire start") },
		AcquireEnd:   func(context.Context, locktrace.AcquireEnd) { panic("acquire end") },
		AttemptStart: func(context.Context, locktrace.AttemptStart) context.Context { panic("attempt start") },
		AttemptEnd:   func(context.Context, locktrace.AttemptEnd) { panic("attempt end") },
		NodeStart:    func(context.Context, locktrace.NodeStart) context.Context { panic("node start") },
		NodeEnd:      func(context.Context, locktrace.NodeEnd) { panic("node end") },
		WaitStart:    func(context.Context, locktrace.WaitStart) context.Context { panic("wait start") },
		WaitEnd:      func(context.Context, locktrace.WaitEnd) { panic("wait end") },
		RenewStart:   func(context.Context, locktrace.RenewStart) context.Context { panic("renew start") },
		RenewEnd:     func(context.Context, locktrace.RenewEnd) { panic("renew end") },
		ReleaseStart: func(context.Context, locktrace.ReleaseStart) context.Context { panic("release start") },
		ReleaseEnd:   func(context.Context, locktrace.ReleaseEnd) { panic("release end") },
	}
}

// TestAPanickingTraceIsContained: the lock works whatever hooks do, and the next caller gets it, too. With one node and
// a context that cannot end, commands run on the caller's goroutine; with three nodes they do not.
func TestAPanickingTraceIsContained(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			l := locktest.NewFakes(t, nodes)(t)
			extend := func(ctx context.Context, lease lock.Lease) error { return lease.Extend(ctx) }
			for range 2 {
				if err := lock.Do(locktrace.With(context.Background(), panicky()), l, "job", extend,
					lock.MaxWait(time.Minute)); err != nil {
					t.Fatal(err)
				}
			}
			if err := lock.Do(context.Background(), l, "job", extend, lock.MaxWait(time.Minute)); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, hook := range []string{"acquire start", "node end", "renew end", "release end"} {
		if !strings.Contains(log.String(), `panic="`+hook+`"`) {
			t.Errorf("the log does not tell of the panic in %s", hook)
		}
	}
}

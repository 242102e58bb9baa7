package engine_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestCallSitesNameTheCaller in what other callers read, also through Do and Reentrant.
func TestCallSitesNameTheCaller(t *testing.T) {
	nodes := memlock.NewNodes(3)
	var engines [2]*memlock.Locker
	for i := range engines {
		l, err := memlock.New(nodes, lock.WithCallSites(), lock.WithPage("http://10.0.0.7:9090/debug/locks"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		engines[i] = l
	}
	err := lock.Do(t.Context(), lock.Reentrant(engines[0]), "job", func(ctx context.Context, _ lock.Lease) error {
		_, err := engines[1].Acquire(ctx, "job", lock.NoWait())
		return err
	})
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		t.Fatal(err)
	}
	if site := held.Holder.CallSite; !regexp.MustCompile(`^engine/callsite_test\.go:\d+$`).MatchString(site) {
		t.Errorf("call site %q", site)
	}
	if held.Holder.Page != "http://10.0.0.7:9090/debug/locks" {
		t.Errorf("page %q", held.Holder.Page)
	}
}

// TestNobodyCalls: an Acquire that is the whole goroutine has no caller, and must not name a line of the runtime.
func TestNobodyCalls(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(1), lock.WithCallSites())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	told := make(chan string, 1)
	go l.Acquire(locktrace.With(t.Context(),
		&locktrace.Trace{AcquireStart: func(ctx context.Context, e locktrace.AcquireStart) context.Context {
			told <- e.CallSite
			return ctx
		}}), "job")
	if site := <-told; site != "" {
		t.Errorf("call site %q", site)
	}
}

func TestPageIsRefused(t *testing.T) {
	for _, page := range []string{"debug/locks", "ftp://host/x", "http://user:pw@host/debug/locks",
		"javascript:alert(1)", "http://"} {
		if _, err := memlock.New(memlock.NewNodes(1), lock.WithPage(page)); !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%q: %v", page, err)
		}
	}
}

// BenchmarkCallSites compares Acquire without and with call sites, on a node in memory.
func BenchmarkCallSites(b *testing.B) {
	for name, opts := range map[string][]lock.Option{"without": nil, "with": {lock.WithCallSites()}} {
		b.Run(name, func(b *testing.B) {
			l, err := memlock.New(memlock.NewNodes(1), opts...)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			b.ReportAllocs()
			for b.Loop() {
				lease, err := l.Acquire(b.Context(), "job")
				if err != nil {
					b.Fatal(err)
				}
				if err := lease.Release(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

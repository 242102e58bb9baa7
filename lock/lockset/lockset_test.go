package lockset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newLocker(t *testing.T, nodes memlock.Nodes, instance string) *memlock.Locker {
	l, err := memlock.New(nodes, lock.WithInstance(instance))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantFree fails unless nobody holds the locks.
func wantFree(t *testing.T, l lock.Locker, names ...string) {
	t.Helper()
	for _, name := range names {
		lease, err := l.Acquire(t.Context(), name, lock.NoWait())
		if err != nil {
			t.Errorf("%q is not free: %v", name, err)
			continue
		}
		must(t, lease.Release(t.Context()))
	}
}

func TestAcquireAndRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := newLocker(t, nodes, "a"), newLocker(t, nodes, "b")
		names := []string{"c", "a", "b"}
		set, err := lockset.Acquire(t.Context(), l, names)
		must(t, err)
		if !slices.Equal(set.Names(), []string{"a", "b", "c"}) || names[0] != "c" {
			t.Errorf("names %v of %v", set.Names(), names)
		}
		fences := set.Fences()
		if len(fences) != 3 || fences["a"] == 0 || fences["b"] == 0 || fences["c"] == 0 {
			t.Errorf("fences %v", fences)
		}
		time.Sleep(time.Minute) // all are renewed
		if set.Remaining() <= 0 || set.Context().Err() != nil {
			t.Errorf("%v left, %v", set.Remaining(), set.Context().Err())
		}
		for _, name := range names {
			if _, err := other.Acquire(t.Context(), name, lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("%q: %v", name, err)
			}
		}
		must(t, set.Release(t.Context()))
		must(t, set.Release(t.Context()))
		if name, cause := set.Lost(); name == "" || !errors.Is(cause, lock.ErrReleased) {
			t.Errorf("released, but %q: %v", name, cause)
		}
		wantFree(t, other, names...)
	})
}

// TestLossOfOneIsLossOfAll, whichever it is, and the error says which.
func TestLossOfOneIsLossOfAll(t *testing.T) {
	for _, lost := range []string{"a", "b", "c"} {
		t.Run(lost, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLocker(t, memlock.NewNodes(3), "a")
				err := lockset.Do(t.Context(), l, []string{"a", "b", "c"}, func(ctx context.Context, set *lockset.Set) error {
					must(t, l.Lose(lost))
					<-ctx.Done()
					if name, cause := set.Lost(); name != lost || !errors.Is(cause, lock.ErrLost) ||
						!errors.Is(context.Cause(ctx), lock.ErrLost) {
						t.Errorf("%q: %v, context %v", name, cause, context.Cause(ctx))
					}
					if set.Remaining() > 0 {
						t.Errorf("%v left", set.Remaining())
					}
					return nil
				})
				if !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), fmt.Sprintf("%q", lost)) {
					t.Error(err)
				}
				wantFree(t, l, "a", "b", "c")
			})
		})
	}
}

// TestFailureReleases what was acquired before, and names what could not be.
func TestFailureReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := newLocker(t, nodes, "a"), newLocker(t, nodes, "b")
		held, err := other.Acquire(t.Context(), "c")
		must(t, err)
		_, err = lockset.Acquire(t.Context(), l, []string{"a", "b", "c"}, lock.NoWait())
		if !errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), `"c"`) {
			t.Error(err)
		}
		wantFree(t, other, "a", "b")

		began := time.Now()
		first, err := other.Acquire(t.Context(), "a")
		must(t, err)
		time.AfterFunc(6*time.Second, func() { _ = first.Release(context.Background()) })
		_, err = lockset.Acquire(t.Context(), l, []string{"a", "c"}, lock.MaxWait(10*time.Second))
		if took := time.Since(began); !errors.Is(err, lock.ErrMaxWait) || took > 11*time.Second {
			t.Errorf("%v after %v: the wait is bounded for all locks together", err, took)
		}
		wantFree(t, other, "a")

		go func() {
			time.Sleep(time.Second)
			_ = l.Lose("a")
		}()
		_, err = lockset.Acquire(t.Context(), l, []string{"a", "c"})
		if !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), `"a" was lost while waiting for "c"`) {
			t.Error(err)
		}
		must(t, held.Release(t.Context()))
		wantFree(t, other, "a", "c")
	})
}

// TestSetsDoNotDeadlock: many callers with random sets all get theirs, and never two of them the same lock.
func TestSetsDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		names := []string{"a", "b", "c", "d", "e"}
		held := make(map[string]string)
		var mu sync.Mutex
		var callers sync.WaitGroup
		for p := range 3 {
			l := newLocker(t, nodes, fmt.Sprint("process", p))
			for c := range 4 {
				who, random := fmt.Sprint(p, ".", c), rand.New(rand.NewPCG(uint64(p), uint64(c)))
				callers.Go(func() {
					for range 10 {
						mine := slices.Clone(names)
						random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
						mine = mine[:1+random.IntN(4)]
						err := lockset.Do(t.Context(), l, mine, func(context.Context, *lockset.Set) error {
							mu.Lock()
							for _, name := range mine {
								if held[name] != "" {
									t.Errorf("%s and %s hold %q", held[name], who, name)
								}
								held[name] = who
							}
							mu.Unlock()
							time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
							mu.Lock()
							defer mu.Unlock()
							for _, name := range mine {
								held[name] = ""
							}
							return nil
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		callers.Wait()
	})
}

// TestWaitsForOneAtATime: the blocking graph sees the locks that a set holds while it waits for the next.
func TestWaitsForOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := newLocker(t, nodes, "a"), newLocker(t, nodes, "b")
		held, err := other.Acquire(t.Context(), "c")
		must(t, err)
		var holds []string
		ctx := locktrace.With(t.Context(), &locktrace.Trace{
			AcquireStart: func(ctx context.Context, e locktrace.AcquireStart) context.Context {
				holds = nil
				for _, h := range e.Holds {
					holds = append(holds, h.Resource)
				}
				return ctx
			},
		})
		time.AfterFunc(time.Second, func() { _ = held.Release(context.Background()) })
		set, err := lockset.Acquire(ctx, l, []string{"c", "b", "a"})
		must(t, err)
		if slices.Sort(holds); !slices.Equal(holds, []string{"a", "b"}) {
			t.Errorf("waits for c and holds %v", holds)
		}
		must(t, set.Release(t.Context()))
	})
}

func TestBadSets(t *testing.T) {
	l := newLocker(t, memlock.NewNodes(1), "a")
	many := make([]string, lockset.MaxSize+1)
	for i := range many {
		many[i] = fmt.Sprint("name", i)
	}
	for name, c := range map[string]struct {
		names []string
		want  error
	}{
		"empty": {nil, lock.ErrInvalidOption}, "duplicate": {[]string{"a", "b", "a"}, lock.ErrInvalidOption},
		"too many": {many, lock.ErrInvalidOption}, "bad name": {[]string{"a", ""}, lock.ErrInvalidResource},
	} {
		if _, err := lockset.Acquire(t.Context(), l, c.names); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lockset.Acquire(t.Context(), nil, []string{"a"}); !errors.Is(err, lock.ErrInvalidOption) {
		t.Error(err)
	}
	if err := new(lockset.Set).Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the zero value: %v", err)
	}
	wantFree(t, l, "a")
}

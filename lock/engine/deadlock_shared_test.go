package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

var (
	toRead  = lock.InMode(lock.ModeRead)
	toWrite = lock.InMode(lock.ModeWrite)
)

// waits begins a call that fails after ten seconds.
func waits(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) <-chan error {
	done := make(chan error, 1)
	opts = append(opts, lock.MaxWait(10*time.Second))
	go func() {
		lease, err := l.Acquire(ctx, resource, opts...)
		if err == nil {
			err = lease.Release(context.Background())
		}
		done <- err
	}()
	return done
}

// TestAWriterWaitsForEachReader: one of three readers waits for what the caller of the writer holds, whichever it is.
// Without it there is no deadlock.
func TestAWriterWaitsForEachReader(t *testing.T) {
	for stuck := range 4 {
		synctest.Test(t, func(t *testing.T) {
			l := openMemory(t)
			var seen deadlocks
			ctx := seen.in(t.Context())
			order := mustAcquire(t, ctx, l, "order")
			var readers []lock.Lease
			for range 3 {
				readers = append(readers, mustAcquire(t, ctx, l, "prices", toRead))
			}
			var reader <-chan error
			if stuck < 3 {
				reader = waits(readers[stuck].Context(), l, "order")
			}
			writer := waits(order.Context(), l, "prices", toWrite, lock.FailOnDeadlock())
			if stuck == 3 {
				if err := <-writer; !errors.Is(err, lock.ErrMaxWait) || seen.seen() != nil {
					t.Errorf("no reader waits: %v, deadlocks %v", err, seen.seen())
				}
				return
			}
			if err := <-writer; !errors.Is(err, lock.ErrDeadlock) {
				t.Errorf("the writer, with reader %d stuck: %v", stuck, err)
			}
			// Each of the two calls may close the cycle.
			if all := seen.seen(); len(all) == 0 || len(all) > 2 || len(all[0].Cycle) != 2 {
				t.Errorf("reader %d is stuck: deadlocks %v", stuck, all)
			}
			if err := order.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-reader; err != nil {
				t.Errorf("the reader, once the order was released: %v", err)
			}
		})
	}
}

// TestACycleBehindTheFirst: a writer closes two cycles at once. The first one ends, before it counts or because its own call
// fails, or it stays because none of its calls asked to fail. Then the second one is also broken.
func TestACycleBehindTheFirst(t *testing.T) {
	fails := lock.FailOnDeadlock()
	for name, c := range map[string]struct {
		first, second, writer []lock.AcquireOption
		want                  [3]error
	}{
		"given up": {
			first: []lock.AcquireOption{lock.MaxWait(20 * time.Millisecond)}, writer: []lock.AcquireOption{fails},
			want: [3]error{lock.ErrMaxWait, nil, lock.ErrDeadlock},
		},
		"broken": {
			first: []lock.AcquireOption{fails}, second: []lock.AcquireOption{fails},
			want: [3]error{lock.ErrDeadlock, lock.ErrDeadlock, nil},
		},
		"without a victim": {
			second: []lock.AcquireOption{fails}, writer: []lock.AcquireOption{lock.MaxWait(20 * time.Second)},
			want: [3]error{lock.ErrMaxWait, lock.ErrDeadlock, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := openMemory(t)
				var seen deadlocks
				ctx := seen.in(t.Context())
				order := mustAcquire(t, ctx, l, "order")
				first, second := mustAcquire(t, ctx, l, "prices", toRead), mustAcquire(t, ctx, l, "prices", toRead)
				calls := [3]<-chan error{
					within(first, l, "order", c.first...), within(second, l, "order", c.second...),
					within(order, l, "prices", append(c.writer, toWrite)...),
				}
				for i, call := range calls {
					if err := <-call; !errors.Is(err, c.want[i]) {
						t.Errorf("call %d: %v, want %v", i, err, c.want[i])
					}
				}
				if all := seen.seen(); name != "given up" && len(all) != 2 || name == "given up" && len(all) != 1 {
					t.Errorf("deadlocks %v", all)
				}
			})
		})
	}
}

// within begins a call in the context of a lease, and releases both at its end.
func within(held lock.Lease, l lock.Locker, resource string, opts ...lock.AcquireOption) <-chan error {
	done := make(chan error, 1)
	opts = append([]lock.AcquireOption{lock.MaxWait(10 * time.Second)}, opts...)
	go func() {
		lease, err := l.Acquire(held.Context(), resource, opts...)
		if err == nil {
			err = lease.Release(context.Background())
		}
		done <- errors.Join(err, held.Release(context.Background()))
	}()
	synctest.Wait()
	return done
}

// TestReadingAgainBehindAWriter is a deadlock while a writer waits, here in another process, and none without one.
func TestReadingAgainBehindAWriter(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes bool
		second bool // a call of the same process contends in front
		want   error
	}{
		{"a writer waits", true, false, lock.ErrDeadlock},
		{"a writer waits, and another reader is in front", true, true, lock.ErrDeadlock},
		{"nobody writes", false, false, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			l, other := openMemoryOn(t, nodes), openMemoryOn(t, nodes)
			var seen deadlocks
			outer := mustAcquire(t, seen.in(t.Context()), l, "prices", toRead)
			writer := make(<-chan error)
			if c.writes {
				writer = waits(t.Context(), other, "prices", toWrite)
				time.Sleep(time.Second)
			}
			var front <-chan error
			if c.second {
				front = waits(t.Context(), l, "prices", toRead)
				synctest.Wait()
			}
			if err := <-waits(outer.Context(), l, "prices", toRead, lock.FailOnDeadlock()); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			if all := seen.seen(); c.writes != (len(all) == 1) {
				t.Errorf("%s: deadlocks %v", c.name, all)
			}
			if err := outer.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if c.writes {
				if err := <-writer; err != nil {
					t.Errorf("%s: the writer: %v", c.name, err)
				}
			}
			if c.second {
				if err := <-front; err != nil {
					t.Errorf("%s: the reader in front: %v", c.name, err)
				}
			}
		})
	}
}

// TestAReaderWithoutAQuorumIsInNoDeadlock: it waits for the nodes, not for the lease that its caller has.
func TestAReaderWithoutAQuorumIsInNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l := openMemoryOn(t, nodes)
		var seen deadlocks
		outer := mustAcquire(t, seen.in(t.Context()), l, "prices", toRead)
		nodes.NoQuorum()
		err := <-waits(outer.Context(), l, "prices", toRead, lock.FailOnDeadlock())
		if errors.Is(err, lock.ErrDeadlock) || seen.seen() != nil {
			t.Errorf("without a quorum: %v, deadlocks %v", err, seen.seen())
		}
		nodes.Recover()
	})
}

// TestDeadlockThroughAPermit: the holder of one slot waits to write, and a reader waits for a slot. The other slot
// decides: it is free, or its holder waits for the reader, too.
func TestDeadlockThroughAPermit(t *testing.T) {
	for _, stuck := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := openMemory(t)
			var seen deadlocks
			ctx := seen.in(t.Context())
			first, second := mustAcquire(t, ctx, l, "jobs", ofTwo), mustAcquire(t, ctx, l, "jobs", ofTwo)
			reader := mustAcquire(t, ctx, l, "prices", toRead)
			mustAcquire(t, ctx, l, "prices", toRead)
			all := []<-chan error{waits(first.Context(), l, "prices", toWrite, lock.FailOnDeadlock())}
			if stuck {
				all = append(all, waits(second.Context(), l, "prices", toWrite, lock.FailOnDeadlock()))
			}
			all = append(all, waits(reader.Context(), l, "jobs", ofTwo, lock.FailOnDeadlock()))
			failed := 0
			for _, done := range all {
				if errors.Is(<-done, lock.ErrDeadlock) {
					failed++
				}
			}
			if stuck != (failed > 0) || stuck != (seen.seen() != nil) {
				t.Errorf("both holders wait: %v; %d calls failed, deadlocks %v", stuck, failed, seen.seen())
			}
		})
	}
}

package riverlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/riverlock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func ours(l lock.Locker) river.WorkerMiddlewareFunc { return riverlock.New(l, riverlock.Key, nil) }

// hanging is the middleware as one would write it first: its leases hang on the context of River.
func hanging(l lock.Locker) river.WorkerMiddlewareFunc {
	return func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		return lock.Do(ctx, l, riverlock.Key(job), func(ctx context.Context, _ lock.Lease) error { return work(ctx) },
			lock.MaxWait(time.Minute), lock.TTL(time.Second))
	}
}

var job = &rivertype.JobRow{Kind: "charge", EncodedArgs: []byte(`{"order":1}`)}

// TestContext: the worker's context has the lease, and ends with it and with River's.
func TestContext(t *testing.T) {
	l := process(t, memlock.NewNodes(3))
	must(t, ours(l).Work(t.Context(), job, func(ctx context.Context) error {
		if held := lock.HeldLeases(ctx); len(held) != 1 || held[0].Fence == 0 || held[0].Resource != riverlock.Key(job) {
			t.Errorf("it holds %v", held)
		}
		return nil
	}))
	err := ours(l).Work(t.Context(), job, func(ctx context.Context) error {
		must(t, l.Lose(riverlock.Key(job)))
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, lock.ErrLost) {
		t.Errorf("it was lost: %v", err)
	}
	cancelled := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	err = ours(l).Work(ctx, job, func(ctx context.Context) error {
		cancel(cancelled)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, cancelled) {
		t.Errorf("it was cancelled: %v", err)
	}
}

// TestWorkerOutlivesContext: the job was cancelled, and its worker goes on for half an hour.
func TestWorkerOutlivesContext(t *testing.T) {
	for name, c := range map[string]struct {
		middleware func(lock.Locker) river.WorkerMiddlewareFunc
		overlap    bool
	}{
		"this package's middleware":       {ours, false},
		"one that hangs on River's (bad)": {hanging, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				other := process(t, nodes)
				ctx, cancel := context.WithCancel(t.Context())
				err := c.middleware(process(t, nodes)).Work(ctx, job, func(context.Context) error {
					cancel()
					<-time.After(30 * time.Minute)
					lease, err := other.Acquire(t.Context(), riverlock.Key(job), lock.NoWait())
					if err == nil {
						must(t, lease.Release(t.Context()))
					}
					return err
				})
				if c.overlap == errors.Is(err, lock.ErrHeld) {
					t.Errorf("another worker: %v", err)
				}
			})
		})
	}
}

// TestHeld: what River is told to do with a job whose lock is held.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := process(t, nodes), process(t, nodes)
		lease, err := other.Acquire(t.Context(), riverlock.Key(job))
		must(t, err)
		never := func(context.Context) error { t.Error("it ran"); return nil }
		for _, opts := range [][]lock.AcquireOption{nil, {lock.MaxWait(time.Millisecond)}} {
			err := riverlock.New(l, riverlock.Key, nil, opts...).Work(t.Context(), job, never)
			snooze, ok := errors.AsType[*river.JobSnoozeError](err)
			if !ok || snooze.Duration != riverlock.Snooze || !errors.Is(err, lock.ErrHeld) {
				t.Errorf("held: %v", err)
			}
			err = riverlock.New(l, riverlock.Key, river.JobCancel(errors.New("enough")), opts...).Work(t.Context(), job, never)
			if _, ok := errors.AsType[*river.JobCancelError](err); !ok {
				t.Errorf("held: %v", err)
			}
		}
		must(t, lease.Release(t.Context()))
		// What a worker fails with may look like a lock that is held: it ran.
		err = ours(l).Work(t.Context(), job, func(context.Context) error { return lock.ErrHeld })
		if _, ok := errors.AsType[*river.JobSnoozeError](err); ok || !errors.Is(err, lock.ErrHeld) {
			t.Errorf("it ran: %v", err)
		}
		unlocked := riverlock.New(l, func(*rivertype.JobRow) string { return "" }, nil)
		must(t, unlocked.Work(t.Context(), job, func(context.Context) error { return nil }))
	})
}

// TestKey: jobs of one kind with the same arguments exclude each other, and no others do.
func TestKey(t *testing.T) {
	same := &rivertype.JobRow{ID: 2, Kind: job.Kind, EncodedArgs: job.EncodedArgs}
	if key := riverlock.Key(same); key != riverlock.Key(job) || lock.ValidateResource(key) != nil {
		t.Errorf("the same job has the key %q", key)
	}
	for _, other := range []*rivertype.JobRow{
		{Kind: job.Kind, EncodedArgs: []byte(`{"order":2}`)}, {Kind: "refund", EncodedArgs: job.EncodedArgs},
	} {
		if key := riverlock.Key(other); key == riverlock.Key(job) {
			t.Errorf("%s of %s has the key of another job", other.Kind, other.EncodedArgs)
		}
	}
}

// TestNoQuorum: no job is worked. River does with it what it does after a failure.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		never := func(context.Context) error { t.Error("it ran"); return nil }
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			err := riverlock.New(l, riverlock.Key, nil, opt).Work(t.Context(), job, never)
			if _, ok := errors.AsType[*river.JobSnoozeError](err); ok || !errors.Is(err, lock.ErrNoQuorum) {
				t.Error(err)
			}
		}
	})
}

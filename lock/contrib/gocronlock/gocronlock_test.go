package gocronlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/gocronlock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

const patience = 30 * time.Second

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// process is the Locker of a process of its own.
func process(t *testing.T, server string) lock.Locker {
	t.Helper()
	engine, err := redlock.Open([]string{"redis://" + server},
		redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(2*time.Second))
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

// schedule runs a job once, at once, in a scheduler with that option. End ends its context while the job runs.
func schedule(t *testing.T, option gocron.SchedulerOption, work func(context.Context),
	opts ...gocron.JobOption,
) (end func()) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(option, gocron.WithStopTimeout(patience))
	must(t, err)
	t.Cleanup(func() { _ = scheduler.Shutdown() })
	_, err = scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(work),
		append([]gocron.JobOption{refused(func(err error) { t.Error(err) }), gocron.WithName("report")}, opts...)...)
	must(t, err)
	scheduler.Start()
	return func() { _ = scheduler.Shutdown() }
}

// refused has fn told why a run was skipped.
func refused(fn func(error)) gocron.JobOption {
	return gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { fn(err) }))
}

// hanging is a locker as one would write it first: its locks end with the context that gocron gives it.
type hanging struct{ locker lock.Locker }

func (h hanging) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := h.locker.Acquire(ctx, key, lock.NoWait())
	if err != nil {
		return nil, err
	}
	return unlocker{lease}, nil
}

type unlocker struct{ lease lock.Lease }

func (u unlocker) Unlock(ctx context.Context) error {
	return u.lease.Release(context.WithoutCancel(ctx))
}

// TestShutdown: a scheduler that shuts down waits for its job, which keeps its lock until then.
func TestShutdown(t *testing.T) {
	server := locktest.Servers(t, 1)[0].Addr()
	for name, c := range map[string]struct {
		locker  gocron.Locker
		another bool // another process gets the lock while the job runs
	}{
		"this package's":                   {gocronlock.NewLocker(process(t, server)), false},
		"one that hangs on gocron's (bad)": {hanging{process(t, server)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			other := process(t, server)
			started, result := make(chan struct{}), make(chan error, 1)
			end := schedule(t, gocron.WithDistributedLocker(c.locker), func(ctx context.Context) {
				close(started)
				<-ctx.Done()
				wait := lock.NoWait()
				if c.another {
					wait = lock.MaxWait(patience) // it is released beside the end of the context
				}
				lease, err := other.Acquire(context.Background(), "report", wait)
				if err == nil {
					err = lease.Release(context.Background())
				}
				result <- err
			})
			<-started
			end()
			if err := <-result; c.another != (err == nil) || !c.another && !errors.Is(err, lock.ErrHeld) {
				t.Errorf("another process: %v", err)
			}
			must(t, lock.Do(t.Context(), other, "report", func(context.Context, lock.Lease) error { return nil },
				lock.MaxWait(patience)))
		})
	}
}

// TestSkips: the run of one process is skipped while another one has the lock. With lock.MaxWait it waits.
func TestSkips(t *testing.T) {
	server := locktest.Servers(t, 1)[0].Addr()
	other := process(t, server)
	lease, err := other.Acquire(t.Context(), "report")
	must(t, err)
	skipped, ran := make(chan error, 1), make(chan struct{})
	schedule(t, gocron.WithDistributedLocker(gocronlock.NewLocker(process(t, server))),
		func(context.Context) { t.Error("it ran") }, refused(func(err error) { skipped <- err }))
	if err := <-skipped; !errors.Is(err, lock.ErrHeld) {
		t.Errorf("skipped with %v", err)
	}
	schedule(t, gocron.WithDistributedLocker(gocronlock.NewLocker(process(t, server), lock.MaxWait(patience))),
		func(context.Context) { close(ran) })
	must(t, lease.Release(t.Context()))
	<-ran
}

// TestElector: one process leads, and the next one when it resigns.
func TestElector(t *testing.T) {
	server := locktest.Servers(t, 1)[0].Addr()
	var first, second gocronlock.Elector
	if err := first.IsLeader(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("before it campaigns: %v", err)
	}
	resigned := errors.New("resigned")
	ctx, resign := context.WithCancelCause(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- first.Run(ctx, process(t, server), "scheduler") }()
	await(t, &first)
	later, stop := context.WithCancel(t.Context())
	go func() { ended <- second.Run(later, process(t, server), "scheduler") }()
	ran := make(chan struct{})
	schedule(t, gocron.WithDistributedElector(&first), func(context.Context) { close(ran) })
	<-ran
	if second.IsLeader(t.Context()) == nil {
		t.Error("two lead")
	}
	resign(resigned)
	if err := <-ended; !errors.Is(err, resigned) {
		t.Errorf("the first ended with %v", err)
	}
	await(t, &second)
	if first.IsLeader(t.Context()) == nil {
		t.Error("it leads after it has resigned")
	}
	stop()
	<-ended
}

// TestNoQuorum: no job runs, with a locker or with an elector.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		never, told := func(context.Context) { t.Error("it ran") }, make(chan error, 1)
		hears := refused(func(err error) { told <- err })
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			end := schedule(t, gocron.WithDistributedLocker(gocronlock.NewLocker(l, opt)), never, hears)
			if err := <-told; !errors.Is(err, lock.ErrNoQuorum) {
				t.Errorf("the job: %v", err)
			}
			end()
		}
		var elector gocronlock.Elector
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- elector.Run(ctx, l, "scheduler") }()
		schedule(t, gocron.WithDistributedElector(&elector), never)
		if err := <-ended; !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("the election: %v", err)
		}
	})
}

// await waits until e leads.
func await(t *testing.T, e *gocronlock.Elector) {
	t.Helper()
	for end := time.Now().Add(patience); e.IsLeader(t.Context()) != nil; {
		if time.Now().After(end) {
			t.Fatal("it does not lead")
		}
		<-time.After(time.Millisecond)
	}
}

package cronlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/cronlock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// logged is what a logger was told.
type logged struct {
	mu   sync.Mutex
	info []string
	errs []error
}

func (l *logged) Info(msg string, kv ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info = append(l.info, fmt.Sprint(msg, " ", kv[1]))
}

func (l *logged) Error(err error, _ string, _ ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestOnceAMinute: two schedulers have the same job, which takes five seconds. It runs once each minute.
func TestOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, runs := memlock.NewNodes(3), make(chan struct{}, 100)
		var logs [2]logged
		var schedulers [2]*cron.Cron
		for i := range logs {
			c := cron.New()
			schedulers[i] = c
			work := cron.FuncJob(func() { runs <- struct{}{}; <-time.After(5 * time.Second) })
			_, err := c.AddJob("* * * * *", cron.NewChain(cronlock.Wrap(process(t, nodes), "report", &logs[i])).Then(work))
			must(t, err)
			c.Start()
		}
		<-time.After(10*time.Minute + time.Second)
		for _, c := range schedulers {
			<-c.Stop().Done()
		}
		if skipped := len(logs[0].info) + len(logs[1].info); len(runs) != 10 || skipped != 10 {
			t.Errorf("%d runs, %d skipped", len(runs), skipped)
		}
		if failed := append(logs[0].errs, logs[1].errs...); len(failed) > 0 {
			t.Errorf("failed: %v", failed)
		}
	})
}

// everySecond is each second of a clock that is ahead of the others' by so much.
type everySecond time.Duration

func (ahead everySecond) Next(t time.Time) time.Time {
	return t.Add(time.Duration(ahead)).Truncate(time.Second).Add(time.Second - time.Duration(ahead))
}

// TestShortJob: a job of 5 ms has ended when the clock of the other scheduler says that it is time. A minimum hold keeps it
// from running there as well.
func TestShortJob(t *testing.T) {
	for want, opts := range map[int][]lock.AcquireOption{120: nil, 60: {lock.MinHold(600 * time.Millisecond)}} {
		synctest.Test(t, func(t *testing.T) {
			nodes, runs := memlock.NewNodes(3), make(chan struct{}, 200)
			work := func(context.Context, lock.Lease) error {
				runs <- struct{}{}
				<-time.After(5 * time.Millisecond)
				return nil
			}
			var schedulers [2]*cron.Cron
			for i := range schedulers {
				c := cron.New()
				schedulers[i] = c
				c.Schedule(everySecond(i*300)*everySecond(time.Millisecond), cronlock.New(process(t, nodes), "short", new(logged),
					work, opts...))
				c.Start()
			}
			<-time.After(time.Minute)
			for _, c := range schedulers {
				<-c.Stop().Done()
			}
			if len(runs) != want {
				t.Errorf("with %d options: %d runs in 60 seconds, want %d", len(opts), len(runs), want)
			}
		})
	}
}

func TestWhatIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, failed := memlock.NewNodes(3), errors.New("failed")
		l, other := process(t, nodes), process(t, nodes)
		run := func(fn func(context.Context, lock.Lease) error, opts ...lock.AcquireOption) *logged {
			logs := new(logged)
			cronlock.New(l, "report", logs, fn, opts...).Run()
			return logs
		}
		if logs := run(func(context.Context, lock.Lease) error { return failed }); len(logs.errs) != 1 ||
			!errors.Is(logs.errs[0], failed) {
			t.Errorf("it failed: %v, %v", logs.info, logs.errs)
		}
		if logs := run(func(ctx context.Context, _ lock.Lease) error {
			l.Lose("report")
			<-ctx.Done()
			return nil
		}); len(logs.errs) != 1 || !errors.Is(logs.errs[0], lock.ErrLost) {
			t.Errorf("it was lost: %v, %v", logs.info, logs.errs)
		}
		// What a job fails with may look like a lock that is held: it ran, and was not skipped.
		if logs := run(func(context.Context, lock.Lease) error { return lock.ErrHeld }); len(logs.errs) != 1 {
			t.Errorf("it ran: %v, %v", logs.info, logs.errs)
		}
		lease, err := other.Acquire(t.Context(), "report")
		must(t, err)
		never := func(context.Context, lock.Lease) error { t.Error("it ran"); return nil }
		for _, opts := range [][]lock.AcquireOption{nil, {lock.MaxWait(time.Millisecond)}} {
			if logs := run(never, opts...); len(logs.info) != 1 || logs.info[0] != "skip report" || len(logs.errs) != 0 {
				t.Errorf("it is held: %v, %v", logs.info, logs.errs)
			}
		}
		must(t, lease.Release(t.Context()))
	})
}

// TestNoQuorum: no job runs, and the log says that this is an error.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			logs := new(logged)
			cronlock.Wrap(l, "report", logs, opt)(cron.FuncJob(func() { t.Error("it ran") })).Run()
			if len(logs.errs) != 1 || !errors.Is(logs.errs[0], lock.ErrNoQuorum) {
				t.Errorf("%v, %v", logs.info, logs.errs)
			}
		}
	})
}

func ExampleNew() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	job := cronlock.New(locker, "report", cron.DefaultLogger, func(ctx context.Context, lease lock.Lease) error {
		fmt.Println("the report, from one process")
		return ctx.Err()
	}, lock.MaxHold(time.Hour))
	c := cron.New()
	if _, err := c.AddJob("0 3 * * *", job); err != nil {
		log.Fatal(err)
	}
	job.Run() // as c does at three o'clock, once it is started
	// Output: the report, from one process
}

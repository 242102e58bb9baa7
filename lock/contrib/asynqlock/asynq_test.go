package asynqlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/asynqlock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

const patience = time.Minute

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

// fleet is what servers in several processes share, and what a test sees of them.
type fleet struct {
	redis   asynq.RedisConnOpt
	client  *asynq.Client
	nodes   memlock.Nodes
	started chan string // names of the processes that begin to handle a task
	refused chan error
	release chan struct{} // lets one handler return
}

func newFleet(t *testing.T) *fleet {
	redis := asynq.RedisClientOpt{Addr: locktest.Servers(t, 1)[0].Addr()}
	client := asynq.NewClient(redis)
	t.Cleanup(func() { must(t, client.Close()) })
	return &fleet{
		redis: redis, client: client, nodes: memlock.NewNodes(3),
		started: make(chan string), refused: make(chan error, 100), release: make(chan struct{}),
	}
}

// enqueue enqueues a task for the order.
func (f *fleet) enqueue(t *testing.T, order string) {
	t.Helper()
	_, err := f.client.Enqueue(asynq.NewTask("charge", []byte(`{"order":"`+order+`"}`)))
	must(t, err)
}

// serve starts a server in a process of that name.
func (f *fleet) serve(t *testing.T, name string, middleware func(lock.Locker) asynq.MiddlewareFunc) *asynq.Server {
	server := asynq.NewServer(f.redis, asynq.Config{
		Concurrency: 2, LogLevel: asynq.FatalLevel, IsFailure: asynqlock.IsFailure,
		TaskCheckInterval: 10 * time.Millisecond, DelayedTaskCheckInterval: 10 * time.Millisecond,
		ShutdownTimeout: time.Millisecond,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return 10 * time.Millisecond },
		ErrorHandler: asynq.ErrorHandlerFunc(func(_ context.Context, _ *asynq.Task, err error) {
			select {
			case f.refused <- err:
			default:
			}
		}),
	})
	mux := asynq.NewServeMux()
	mux.Use(middleware(process(t, f.nodes)))
	mux.HandleFunc("charge", func(context.Context, *asynq.Task) error {
		f.started <- name
		<-f.release // whatever becomes of its context
		return nil
	})
	must(t, server.Start(mux))
	t.Cleanup(server.Shutdown)
	return server
}

func ours(l lock.Locker) asynq.MiddlewareFunc { return asynqlock.Middleware(l, asynqlock.Key, nil) }

func none(lock.Locker) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler { return next }
}

// hanging is the middleware as one would write it first: its leases hang on the context of asynq.
func hanging(l lock.Locker) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			return lock.Do(ctx, l, asynqlock.Key(task), func(ctx context.Context, _ lock.Lease) error {
				return next.ProcessTask(ctx, task)
			}, lock.MaxWait(patience), lock.TTL(time.Second))
		})
	}
}

// next waits for what happens next: a handler begins, or a task is refused.
func (f *fleet) next(t *testing.T) (started string, refused error) {
	t.Helper()
	select {
	case started = <-f.started:
	case refused = <-f.refused:
	case <-time.After(patience):
		t.Fatal("nothing happens")
	}
	return started, refused
}

// TestOneAtATime: two tasks for one order are handled one after the other, by whichever processes.
func TestOneAtATime(t *testing.T) {
	t.Run("this package's middleware", func(t *testing.T) {
		f := newFleet(t)
		f.serve(t, "a", ours)
		f.serve(t, "b", ours)
		f.enqueue(t, "1")
		f.enqueue(t, "1")
		f.start(t)
		for range 30 { // more refusals than a task has retries: none counts
			if name, err := f.next(t); name != "" || !errors.Is(err, lock.ErrHeld) {
				t.Fatalf("beside the first: %q, %v", name, err)
			}
		}
		f.enqueue(t, "2") // another order
		f.start(t)
		f.release <- struct{}{}
		f.release <- struct{}{}
		f.start(t)
		f.release <- struct{}{}
	})
	t.Run("no middleware (bad)", func(t *testing.T) {
		f := newFleet(t)
		f.serve(t, "a", none)
		f.serve(t, "b", none)
		f.enqueue(t, "1")
		f.enqueue(t, "1")
		f.next(t)
		f.next(t)
		if len(f.refused) > 0 {
			t.Errorf("refused: %v", <-f.refused)
		}
		f.release <- struct{}{}
		f.release <- struct{}{}
	})
}

// start waits until a handler begins: another task may be refused before, since who holds the lock says so a moment later.
func (f *fleet) start(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if name, _ := f.next(t); name != "" {
			return
		}
	}
	t.Fatal("no handler begins")
}

// TestShutdown: a server that shuts down puts the task back into the queue while its handler still runs.
func TestShutdown(t *testing.T) {
	for name, c := range map[string]struct {
		middleware func(lock.Locker) asynq.MiddlewareFunc
		overlap    bool
	}{
		"this package's middleware":       {ours, false},
		"one that hangs on asynq's (bad)": {hanging, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			first := f.serve(t, "first", c.middleware)
			f.enqueue(t, "1")
			f.next(t)
			first.Shutdown()
			f.serve(t, "second", c.middleware)
			begun, err := f.next(t)
			if !c.overlap {
				if begun != "" || !errors.Is(err, lock.ErrHeld) {
					t.Errorf("beside the first: %q, %v", begun, err)
				}
				f.release <- struct{}{}
				f.start(t)
				f.release <- struct{}{}
				return
			}
			if begun != "second" { // it waited until the lease that nobody renews had expired
				t.Errorf("beside the first: %q, %v", begun, err)
			}
			f.release <- struct{}{}
			f.release <- struct{}{}
		})
	}
}

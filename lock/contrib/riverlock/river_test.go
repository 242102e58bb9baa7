package riverlock_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/riverlock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

const patience = time.Minute

// charge is a job.
type charge struct {
	Order int `json:"order"`
}

func (charge) Kind() string { return "charge" }

// fleet is what clients in several processes share, and what a test sees of them.
type fleet struct {
	pool    *pgxpool.Pool
	nodes   memlock.Nodes
	started chan string // names of the processes that begin to work a job
	release chan struct{}
}

func newFleet(t *testing.T) *fleet {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	server, err := pgproc.Start(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop()) })
	pool, err := pgxpool.New(ctx, server.URL("postgres"))
	must(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(t, err)
	return &fleet{pool: pool, nodes: memlock.NewNodes(3), started: make(chan string), release: make(chan struct{})}
}

// client starts a client in a process of that name. Its workers go on until they are released, whatever becomes of
// their context.
func (f *fleet) client(t *testing.T, name string, middleware river.WorkerMiddlewareFunc) (*river.Client[pgx.Tx],
	<-chan *river.Event,
) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, _ *river.Job[charge]) error {
		select {
		case f.started <- name:
			<-f.release
		case <-ctx.Done(): // the test is over
		}
		return nil
	}))
	client, err := river.NewClient(riverpgxv5.New(f.pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 5}}, Workers: workers,
		Plugins: []rivertype.Plugin{middleware}, Logger: slog.New(slog.DiscardHandler),
		FetchPollInterval: 100 * time.Millisecond,
	})
	must(t, err)
	events, unsubscribe := client.Subscribe(river.EventKindJobSnoozed, river.EventKindJobCancelled)
	t.Cleanup(unsubscribe)
	must(t, client.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() { must(t, client.StopAndCancel(context.WithoutCancel(t.Context()))) })
	return client, events
}

func insert(t *testing.T, c *river.Client[pgx.Tx]) {
	t.Helper()
	_, err := c.Insert(t.Context(), charge{1}, nil)
	must(t, err)
}

// begins waits until a worker begins.
func (f *fleet) begins(t *testing.T) string {
	t.Helper()
	select {
	case name := <-f.started:
		return name
	case <-time.After(patience):
		t.Fatal("no worker begins")
		return ""
	}
}

// TestOneAtATime: two jobs for one order, in two processes, of which the first is told to stop and still works.
func TestOneAtATime(t *testing.T) {
	f := newFleet(t)
	again := river.JobSnooze(time.Second)
	first, _ := f.client(t, "first", riverlock.New(process(t, f.nodes), riverlock.Key, again))
	insert(t, first)
	f.begins(t)
	stopped := make(chan error, 1)
	go func() { stopped <- first.StopAndCancel(context.WithoutCancel(t.Context())) }()
	second, events := f.client(t, "second", riverlock.New(process(t, f.nodes), riverlock.Key, again))
	insert(t, second)
	for range 2 {
		select {
		case <-events:
		case name := <-f.started:
			t.Fatalf("%s works beside the first", name)
		case <-time.After(patience):
			t.Fatal("nothing happens")
		}
	}
	f.release <- struct{}{}
	must(t, <-stopped)
	f.begins(t)
	f.release <- struct{}{}
}

// TestOverlap is the control of TestOneAtATime.
func TestOverlap(t *testing.T) {
	f := newFleet(t)
	for name, middleware := range map[string]func(lock.Locker) river.WorkerMiddlewareFunc{
		"no lock": func(lock.Locker) river.WorkerMiddlewareFunc {
			return riverlock.New(nil, func(*rivertype.JobRow) string { return "" }, nil)
		},
		"a lock that hangs on River's context": hanging,
	} {
		t.Run(name, func(t *testing.T) {
			first, _ := f.client(t, "first", middleware(process(t, f.nodes)))
			insert(t, first)
			f.begins(t)
			stopped := make(chan error, 1)
			go func() { stopped <- first.StopAndCancel(context.WithoutCancel(t.Context())) }()
			second, _ := f.client(t, "second", middleware(process(t, f.nodes)))
			insert(t, second)
			if name := f.begins(t); name != "second" {
				t.Errorf("%s works", name)
			}
			f.release <- struct{}{}
			f.release <- struct{}{}
			must(t, <-stopped)
		})
	}
}

// TestDropped: a periodic job is dropped while the one before it still works.
func TestDropped(t *testing.T) {
	f := newFleet(t)
	client, events := f.client(t, "only", riverlock.New(process(t, f.nodes), riverlock.Key, river.JobCancel(lock.ErrHeld)))
	client.PeriodicJobs().Add(river.NewPeriodicJob(river.PeriodicInterval(time.Second),
		func() (river.JobArgs, *river.InsertOpts) { return charge{1}, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
	f.begins(t)
	select {
	case e := <-events:
		if e.Kind != river.EventKindJobCancelled {
			t.Errorf("the second: %v", e.Kind)
		}
	case name := <-f.started:
		t.Errorf("%s works beside the first", name)
	case <-time.After(patience):
		t.Error("nothing happens")
	}
	close(f.release)
}

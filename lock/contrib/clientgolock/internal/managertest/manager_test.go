package managertest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/clientgolock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replica is one process of a controller.
type replica struct {
	*clientgolock.Lock
	locker *memlock.Locker
	works  chan span  // that have begun
	ended  chan error // of Start
}

// span is one call of what only the leader may do.
type span struct {
	began time.Time
	ended context.Context // when the work ends
}

// start starts a replica that runs until ctx ends. add gives its manager the work of a leader.
func start(ctx context.Context, t *testing.T, nodes memlock.Nodes, identity string, add adder) *replica {
	locker, err := memlock.New(nodes, lock.WithInstance(identity))
	must(t, err)
	t.Cleanup(func() { must(t, locker.Close()) })
	r := &replica{
		Lock: clientgolock.New(locker, "controller", identity), locker: locker,
		works: make(chan span, 10), ended: make(chan error, 1),
	}
	m, err := newManager(r.Lock, func() { t.Errorf("%s calls the API server", identity) })
	must(t, err)
	must(t, add(m, r))
	go func() { r.ended <- m.Start(ctx) }()
	return r
}

func (r *replica) work(ctx context.Context) {
	r.works <- span{time.Now(), ctx}
	<-ctx.Done()
}

// newManager makes a manager with the durations of controller-runtime. called is called before each connection to the
// API server, which fails.
func newManager(l resourcelock.Interface, called func()) (manager.Manager, error) {
	return manager.New(
		&rest.Config{
			Host: "https://api.invalid",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				called()
				return nil, errors.New("there is no API server")
			},
		},
		manager.Options{
			LeaderElection: true, LeaderElectionID: "controller", LeaderElectionNamespace: "default",
			LeaderElectionResourceLockInterface: l, LeaderElectionReleaseOnCancel: true,
			Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: logr.Discard(),
			MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
				return meta.NewDefaultRESTMapper(nil), nil
			},
		})
}

// adder gives a manager the work of a leader.
type adder func(manager.Manager, *replica) error

// runnable needs leadership, as each Runnable does that does not say otherwise.
func runnable(m manager.Manager, r *replica) error {
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		r.work(ctx)
		return nil
	}))
}

func runnableLeading(m manager.Manager, r *replica) error {
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		r.Leading(r.work)(ctx)
		return nil
	}))
}

func reconciler(m manager.Manager, r *replica) error { return addController(m, r.work) }

func reconcilerLeading(m manager.Manager, r *replica) error {
	return addController(m, r.Leading(r.work))
}

// addController adds a controller that is asked once to reconcile.
func addController(m manager.Manager, work func(context.Context)) error {
	sameName := true
	c, err := controller.New("test", m, controller.Options{
		SkipNameValidation: &sameName,
		Reconciler: reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			work(ctx)
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return err
	}
	return c.Watch(source.Func(
		func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			queue.Add(reconcile.Request{})
			return nil
		}))
}

// TestHandOver: one of two replicas works for an hour, and the other one after the first was stopped.
func TestHandOver(t *testing.T) {
	for name, add := range map[string]adder{
		"Runnable": runnable, "Reconciler": reconciler,
		"Runnable, Leading": runnableLeading, "Reconciler, Leading": reconcilerLeading,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { handOver(t, add) })
		})
	}
}

func handOver(t *testing.T, add adder) {
	nodes := memlock.NewNodes(3)
	ctx, stop := context.WithCancel(t.Context())
	a := start(ctx, t, nodes, "first", add)
	before, term := <-a.works, a.Fence()
	later, end := context.WithCancel(t.Context())
	b := start(later, t, nodes, "second", add)
	<-time.After(time.Hour)
	if before.ended.Err() != nil || len(b.works) > 0 {
		t.Fatalf("after an hour: first %v, the second works %d times", before.ended.Err(), len(b.works))
	}
	stop()
	must(t, <-a.ended)
	if before.ended.Err() == nil {
		t.Error("the first has ended, and works")
	}
	at := time.Now()
	after := <-b.works
	if took := after.began.Sub(at); took > 5*time.Second { // two retry periods, and jitter
		t.Errorf("the second works %v later", took)
	}
	if a.Fence() != 0 || b.Fence() <= term {
		t.Errorf("terms %d, then %d", term, b.Fence())
	}
	end()
	must(t, <-b.ended)
}

// TestLost: a manager whose lock is lost ends with an error, and the other one works. With Leading, the work of the first
// has ended by then.
func TestLost(t *testing.T) {
	for name, c := range map[string]struct {
		add      adder
		overlaps bool
	}{
		"Runnable (bad)": {runnable, true}, "Reconciler (bad)": {reconciler, true},
		"Runnable, Leading": {runnableLeading, false}, "Reconciler, Leading": {reconcilerLeading, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { lose(t, c.add, c.overlaps) })
		})
	}
}

func lose(t *testing.T, add adder, overlaps bool) {
	nodes := memlock.NewNodes(3)
	a := start(t.Context(), t, nodes, "first", add)
	before := <-a.works
	ctx, stop := context.WithCancel(t.Context())
	b := start(ctx, t, nodes, "second", add)
	<-time.After(time.Minute)
	at := time.Now()
	must(t, a.locker.Lose("controller"))
	after := <-b.works
	if took := after.began.Sub(at); took > 5*time.Second {
		t.Errorf("the second works %v later", took)
	}
	if (before.ended.Err() == nil) != overlaps {
		t.Errorf("the second works, and the first until %v", context.Cause(before.ended))
	}
	if err := <-a.ended; err == nil || !strings.Contains(err.Error(), "leader election lost") {
		t.Errorf("the first ends with %v", err)
	}
	if took := time.Since(at); took > 12*time.Second { // RenewDeadline and RetryPeriod
		t.Errorf("the first ends %v later", took)
	}
	synctest.Wait()
	if before.ended.Err() == nil || len(a.works) > 0 || len(b.works) > 0 || after.ended.Err() != nil {
		t.Errorf("first %v, second %v", before.ended.Err(), after.ended.Err())
	}
	stop()
	must(t, <-b.ended)
}

// TestCallIsSeen: without our lock, the same manager calls the API server, and the tests would see it.
func TestCallIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan struct{}, 1)
		m, err := newManager(nil, func() {
			select {
			case called <- struct{}{}:
			default:
			}
		})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.Start(ctx) }()
		<-called
		stop()
		<-ended
	})
}

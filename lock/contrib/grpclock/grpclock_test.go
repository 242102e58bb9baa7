package grpclock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/grpclock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const patience = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// service is the work behind a call: Check for unary calls, Watch for streams.
type service struct {
	health.UnimplementedHealthServer
	work func(context.Context) error
}

func (s service) Check(ctx context.Context, _ *health.HealthCheckRequest) (*health.HealthCheckResponse, error) {
	return &health.HealthCheckResponse{Status: health.HealthCheckResponse_SERVING}, s.work(ctx)
}

func (s service) Watch(_ *health.HealthCheckRequest, stream health.Health_WatchServer) error {
	return errors.Join(s.work(stream.Context()), stream.Send(&health.HealthCheckResponse{}))
}

// resource is the service that a unary call asks for.
func resource(_ context.Context, _ string, request any) string {
	return request.(*health.HealthCheckRequest).GetService()
}

// named is the resource of a stream, in its metadata.
func named(ctx context.Context, _ string) string {
	if md, ok := metadata.FromIncomingContext(ctx); ok && len(md.Get("resource")) > 0 {
		return md.Get("resource")[0]
	}
	return ""
}

// serve returns a client of a server of that work.
func serve(t *testing.T, work func(context.Context) error, opts ...grpc.ServerOption) health.HealthClient {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(append(opts, grpc.WaitForHandlers(true))...) // a handler releases its lock after the call
	health.RegisterHealthServer(server, service{work: work})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); must(t, <-ended) })
	conn, err := grpc.NewClient("passthrough:memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close()) })
	return health.NewHealthClient(conn)
}

// locking are the interceptors of this package.
func locking(l lock.Locker, opts ...lock.AcquireOption) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(grpclock.Unary(l, resource, opts...)),
		grpc.StreamInterceptor(grpclock.Stream(l, named, opts...)),
	}
}

func check(ctx context.Context, c health.HealthClient, name string) error {
	_, err := c.Check(ctx, &health.HealthCheckRequest{Service: name})
	return err
}

func watch(ctx context.Context, c health.HealthClient, name string) error {
	stream, err := c.Watch(metadata.AppendToOutgoingContext(ctx, "resource", name), &health.HealthCheckRequest{})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

var calls = map[string]func(context.Context, health.HealthClient, string) error{"unary": check, "stream": watch}

func nothing(context.Context) error { return nil }

// delay is what the RetryInfo of an error asks for.
func delay(err error) time.Duration {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// TestOneCallAtATime: a call is refused while a server of another process serves the resource, and waits if told to.
// Without the interceptor it is served beside it.
func TestOneCallAtATime(t *testing.T) {
	for kind, call := range calls {
		t.Run(kind, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			serving, end := make(chan uint64), make(chan struct{})
			slow := serve(t, func(ctx context.Context) error {
				serving <- lock.HeldLeases(ctx)[0].Fence
				<-end
				return nil
			}, locking(process(t, nodes))...)
			first := make(chan error, 1)
			go func() { first <- call(t.Context(), slow, "order:1") }()
			if fence := <-serving; fence == 0 {
				t.Error("no fencing token")
			}
			other := process(t, nodes)
			fast := serve(t, nothing, locking(other)...)
			if err := call(t.Context(), fast, "order:1"); status.Code(err) != codes.Aborted ||
				delay(err) < time.Second || delay(err) > lock.DefaultTTL {
				t.Errorf("%v, retry after %v", err, delay(err))
			}
			must(t, call(t.Context(), serve(t, nothing), "order:1")) // without the interceptor (bad)
			for name, want := range map[string]codes.Code{
				"order:2": codes.OK, "": codes.OK, "{": codes.InvalidArgument,
			} {
				if err := call(t.Context(), fast, name); status.Code(err) != want {
					t.Errorf("%q: %v, want %v", name, err, want)
				}
			}
			brief := serve(t, nothing, locking(other, lock.MaxWait(time.Second/2))...)
			if err := call(t.Context(), brief, "order:1"); status.Code(err) != codes.Aborted || delay(err) == 0 {
				t.Errorf("it waited a little: %v", err)
			}
			second := make(chan error, 1)
			waits := serve(t, nothing, locking(other, lock.MaxWait(patience))...)
			go func() { second <- call(t.Context(), waits, "order:1") }()
			close(end)
			must(t, errors.Join(<-first, <-second))
		})
	}
}

// TestNoQuorum: no handler is called, and the client may try again.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		for _, opt := range []lock.AcquireOption{nil, lock.MaxWait(time.Second)} {
			client := serve(t, func(context.Context) error { t.Error("it was served"); return nil }, locking(l, opt)...)
			for kind, call := range calls {
				if err := call(t.Context(), client, "order:1"); status.Code(err) != codes.Unavailable || delay(err) == 0 {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	})
}

// refusing is a Locker whose driver cannot do what the options ask for.
type refusing struct{ lock.Locker }

func (refusing) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	return nil, fmt.Errorf("%w: this driver cannot keep a resource", errors.ErrUnsupported)
}

// TestTheDriverRefusesTheOptions: the client need not try again.
func TestTheDriverRefusesTheOptions(t *testing.T) {
	client := serve(t, nothing, locking(refusing{}, lock.MinHold(time.Minute))...)
	for kind, call := range calls {
		if err := call(t.Context(), client, "order:1"); status.Code(err) != codes.InvalidArgument || delay(err) != 0 {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// recording is a Locker that sends the lease that it acquired.
type recording struct {
	lock.Locker
	leases chan lock.Lease
}

func (r recording) Acquire(ctx context.Context, name string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := r.Locker.Acquire(ctx, name, opts...)
	if err == nil {
		r.leases <- lease
	}
	return lease, err
}

// TestTheClientGoesAway: the handler's context ends, and it keeps the lock until it returns. A lock that hangs on the
// call's context is another process's meanwhile.
func TestTheClientGoesAway(t *testing.T) {
	for name, c := range map[string]struct {
		interceptor func(lock.Locker) grpc.UnaryServerInterceptor
		free        bool
	}{
		"this package's": {func(l lock.Locker) grpc.UnaryServerInterceptor {
			return grpclock.Unary(l, resource)
		}, false},
		"one that hangs on the call's context (bad)": {func(l lock.Locker) grpc.UnaryServerInterceptor {
			return func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
				var answer any
				err := lock.Do(ctx, l, resource(ctx, "", r), func(ctx context.Context, _ lock.Lease) (err error) {
					answer, err = next(ctx, r)
					return err
				}, lock.TTL(time.Second))
				return answer, err
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			other, result, leases := process(t, nodes), make(chan error, 1), make(chan lock.Lease, 1)
			ctx, leave := context.WithCancel(t.Context())
			client := serve(t, func(ctx context.Context) error {
				leave()
				<-ctx.Done()
				if over := (<-leases).Context().Err() != nil; over != c.free {
					t.Errorf("the lease is over: %v", over)
				}
				wait := lock.NoWait()
				if c.free {
					wait = lock.MaxWait(patience) // it is released beside the end of the context
				}
				result <- lock.Do(context.Background(), other, "order:1",
					func(context.Context, lock.Lease) error { return nil }, wait)
				return ctx.Err()
			}, grpc.UnaryInterceptor(c.interceptor(recording{process(t, nodes), leases})))
			if err := check(ctx, client, "order:1"); status.Code(err) != codes.Canceled {
				t.Errorf("the client: %v", err)
			}
			if err := <-result; c.free != (err == nil) || !c.free && !errors.Is(err, lock.ErrHeld) {
				t.Errorf("another process: %v", err)
			}
		})
	}
}

// TestLossAndCancel: a lost lease ends the handler's context, and a call that is cancelled while it waits never runs.
func TestLossAndCancel(t *testing.T) {
	l := process(t, memlock.NewNodes(3))
	told := make(chan error, 1)
	client := serve(t, func(ctx context.Context) error {
		if err := l.Lose("order:1"); err != nil {
			return err
		}
		<-ctx.Done()
		told <- context.Cause(ctx)
		return nil
	}, locking(l, lock.MaxWait(patience))...)
	must(t, check(t.Context(), client, "order:1"))
	if cause := <-told; !errors.Is(cause, lock.ErrLost) {
		t.Errorf("told %v", cause)
	}
	lease, err := l.Acquire(t.Context(), "order:2")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := check(ctx, client, "order:2"); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("its deadline passed: %v", err)
	}
	must(t, lease.Release(t.Context()))
}

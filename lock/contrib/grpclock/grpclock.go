// Package grpclock serves one call for a resource at a time, whichever process of a fleet it reaches.
//
//	server := grpc.NewServer(grpc.UnaryInterceptor(grpclock.Unary(locker,
//		func(ctx context.Context, method string, request any) string {
//			if r, ok := request.(*billing.ChargeRequest); ok {
//				return "order:" + r.GetOrderId()
//			}
//			return "" // no lock
//		})))
//
// A call for a resource that is being served is answered at once with Aborted. Its google.rpc.RetryInfo says when the
// lock is free unless it is renewed. With lock.MaxWait among the options a call waits that long for its turn first.
//
// # What gRPC does not give
//
// A client that retries by its service config retries Aborted only if that lists it. It ignores RetryInfo: read it with
// status.Convert(err).Details().
//
// A call that ended for its client goes on in the server until its handler returns. The lock is kept until then.
package grpclock

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockscope/lockscope/lock"
)

// Unary returns an interceptor that calls the handler with the lock that key names for the call. It calls the handler
// without a lock if key returns "". opts are those of [lock.Locker].Acquire; without lock.MaxWait a call does not wait.
//
// The context of the handler ends with the call's and when the lease is lost; lock.HeldLeases finds the lease in it,
// which has the fencing token. The lease ends when the handler returns or panics. lock.MaxHold bounds a handler that
// hangs.
//
// If the handler is not called, the code is
//   - Aborted, with RetryInfo, if another call has the lock;
//   - InvalidArgument if the name is not one of a lock, or the Locker refuses the options;
//   - Canceled or DeadlineExceeded if the call's context ended while it waited;
//   - Unavailable otherwise: too few nodes answer.
//
// The answers name no holder.
func Unary(locker lock.Locker, key func(ctx context.Context, method string, request any) string,
	opts ...lock.AcquireOption,
) grpc.UnaryServerInterceptor {
	opts = atOnce(opts)
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		var answer any
		err := serve(ctx, locker, key(ctx, info.FullMethod, request), opts, func(ctx context.Context) (err error) {
			answer, err = next(ctx, request)
			return err
		})
		return answer, err
	}
}

// Stream is Unary for streams. key sees no message: it takes the name from the metadata. One lease covers the stream.
func Stream(locker lock.Locker, key func(ctx context.Context, method string) string, opts ...lock.AcquireOption,
) grpc.StreamServerInterceptor {
	opts = atOnce(opts)
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return serve(stream.Context(), locker, key(stream.Context(), info.FullMethod), opts,
			func(ctx context.Context) error { return next(server, locked{stream, ctx}) })
	}
}

// locked is a stream whose context is that of its lease.
type locked struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (l locked) Context() context.Context { return l.ctx }

func atOnce(opts []lock.AcquireOption) []lock.AcquireOption {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	return opts
}

func serve(ctx context.Context, locker lock.Locker, resource string, opts []lock.AcquireOption,
	next func(context.Context) error,
) error {
	if resource == "" {
		return next(ctx)
	}
	lease, err := lock.AcquireDetached(ctx, locker, resource, opts...)
	if err != nil {
		return refusal(ctx, err)
	}
	// A decorator of the Locker reports the error; the call was served.
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	working, stop := lock.WorkContext(ctx, lease)
	defer stop()
	return next(working)
}

// refusal is the answer to a call that did not get its lock.
func refusal(ctx context.Context, err error) error {
	held, ok := errors.AsType[*lock.HeldError](err)
	switch {
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case ok:
		return retry(codes.Aborted, "another call for this resource is being served", held.Remaining)
	case lock.ReasonOf(err) == lock.ReasonInvalid:
		return status.Error(codes.InvalidArgument, "this resource cannot be locked")
	default:
		return retry(codes.Unavailable, "the lock of this resource cannot be had at the moment", time.Second)
	}
}

// retry is an error with a RetryInfo. It asks for at least a moment, where the remaining time is not known.
func retry(code codes.Code, message string, after time.Duration) error {
	s := status.New(code, message)
	info := &errdetails.RetryInfo{RetryDelay: durationpb.New(max(after, 100*time.Millisecond))}
	if detailed, err := s.WithDetails(info); err == nil {
		s = detailed
	}
	return s.Err()
}

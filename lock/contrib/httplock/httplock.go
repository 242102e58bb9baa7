// Package httplock serves one request for a resource at a time, whichever process of a fleet it reaches.
//
//	mux.Handle("POST /orders/{id}/charge", httplock.Handler(locker, func(r *http.Request) string {
//		return "order:" + r.PathValue("id")
//	}, charge))
//
// A request for a resource that is being served is answered at once with 409 Conflict and Retry-After. With
// lock.MaxWait among the options it waits that long for its turn first.
package httplock

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Handler calls next with the lock that key names for the request. It calls next without a lock if key returns "".
// opts are those of [lock.Locker].Acquire; without lock.MaxWait a request does not wait.
//
// The context of the request that next sees ends when the client goes away and when the lease is lost;
// lock.HeldLeases finds the lease in it, which has the fencing token. The lease ends when next returns or panics, not
// when the client goes away: next may still be working then. lock.MaxHold bounds a handler that hangs.
//
// If next is not called, the answer is
//   - 409 Conflict if another request has the lock. Retry-After is when it is free unless it is
//     renewed, in seconds;
//   - 400 Bad Request if the name is not one of a lock, or the Locker refuses the options;
//   - 503 Service Unavailable otherwise: too few nodes answer, or the client went away.
//
// The answers name no holder.
func Handler(locker lock.Locker, key func(*http.Request) string, next http.Handler,
	opts ...lock.AcquireOption,
) http.Handler {
	if lock.NewAcquireOptions(opts...).MaxWait == 0 {
		opts = append(opts[:len(opts):len(opts)], lock.NoWait())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := key(r)
		if resource == "" {
			next.ServeHTTP(w, r)
			return
		}
		lease, err := lock.AcquireDetached(r.Context(), locker, resource, opts...)
		if err != nil {
			refuse(w, err)
			return
		}
		// The answer is written by then: a decorator of the Locker reports the error.
		defer func() { _ = lease.Release(context.WithoutCancel(r.Context())) }()
		ctx, stop := lock.WorkContext(r.Context(), lease)
		defer stop()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers a request that did not get its lock.
func refuse(w http.ResponseWriter, err error) {
	held, ok := errors.AsType[*lock.HeldError](err)
	switch {
	case ok:
		w.Header().Set("Retry-After", seconds(held.Remaining))
		http.Error(w, "another request for this resource is being served", http.StatusConflict)
	case lock.ReasonOf(err) == lock.ReasonInvalid:
		http.Error(w, "this resource cannot be locked", http.StatusBadRequest)
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the lock of this resource cannot be had at the moment", http.StatusServiceUnavailable)
	}
}

// seconds rounds up, and is at least one: HTTP has no shorter time.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

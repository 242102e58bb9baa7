package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/lock"
)

// maxWait is how long a request waits for its turn before the answer names the caller in front.
const maxWait = 2 * time.Second

type api struct {
	locker lock.Locker
	orders *orders
	logger *slog.Logger
}

func newAPI(locker lock.Locker, orders *orders, logger *slog.Logger) http.Handler {
	a := &api{locker: locker, orders: orders, logger: logger}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", a.get)
	mux.HandleFunc("POST /orders/{id}/charge", a.charge)
	return mux
}

func (a *api) get(w http.ResponseWriter, r *http.Request) {
	o, ok := a.orders.get(r.PathValue("id"))
	if !ok {
		answer(w, http.StatusNotFound, problem{Error: "no such order"})
		return
	}
	answer(w, http.StatusOK, o)
}

var validID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func (a *api) charge(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !validID.MatchString(id) {
		answer(w, http.StatusBadRequest, problem{Error: "an order id is up to 64 letters, digits and hyphens"})
		return
	}
	var charged order
	err := lock.Do(r.Context(), a.locker, "order:"+id, func(ctx context.Context, lease lock.Lease) (err error) {
		charged, err = a.orders.charge(ctx, id, lease.Fence())
		return err
	}, lock.MaxWait(maxWait))
	if err != nil {
		a.refuse(w, r, id, err)
		return
	}
	a.logger.InfoContext(r.Context(), "charged", "order", id, "charges", charged.Charges, "fence", charged.Fence)
	answer(w, http.StatusOK, charged)
}

// problem is an answer that is not an order.
type problem struct {
	Error     string     `json:"error"`
	HeldBy    string     `json:"held_by,omitempty"`
	HeldSince *time.Time `json:"held_since,omitempty"`
}

// refuse says why a charge was not made, and when to try again.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, id string, err error) {
	a.logger.WarnContext(r.Context(), "not charged", "order", id, "reason", lock.ReasonOf(err), "error", err)
	trace.SpanFromContext(r.Context()).SetStatus(codes.Error, string(lock.ReasonOf(err)))
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		p := problem{Error: "somebody else is working on this order", HeldBy: held.Holder.Instance}
		if !held.Holder.Since.IsZero() {
			p.HeldSince = &held.Holder.Since
		}
		w.Header().Set("Retry-After", retryAfter(held.Remaining))
		answer(w, http.StatusLocked, p)
		return
	}
	switch {
	case errors.Is(err, lock.ErrNoQuorum), errors.Is(err, lock.ErrTooLate), errors.Is(err, lock.ErrMaxWait), errors.Is(err, lock.ErrClosed):
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, problem{Error: "locks cannot be taken at the moment"})
	case errors.Is(err, lock.ErrLost), errors.Is(err, errStale):
		answer(w, http.StatusConflict,
			problem{Error: "the lock was lost while the order was charged: look at the order before you try again"})
	default:
		answer(w, http.StatusInternalServerError, problem{Error: "not charged"})
	}
}

// retryAfter is in whole seconds: when the lock ends unless it is renewed, but at
// most a few, as most holders are done much sooner.
func retryAfter(remaining time.Duration) string {
	return strconv.Itoa(int(min(max(math.Ceil(remaining.Seconds()), 1), 5)))
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone: nobody to tell
}

// traced puts each request into a span, in the trace of the caller if it has one.
func traced(provider trace.TracerProvider, next http.Handler) http.Handler {
	tracer := provider.Tracer("github.com/lockscope/lockscope/examples/service")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		r = r.WithContext(ctx)
		next.ServeHTTP(w, r)
		if r.Pattern != "" { // known only now: the mux writes it into the request
			span.SetName(r.Pattern)
			span.SetAttributes(attribute.String("http.route", r.Pattern))
		}
	})
}

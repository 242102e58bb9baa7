package clientgolock

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

// Locker is what a candidate needs: an engine of lockscope with a driver that answers Peek.
type Locker interface {
	lock.Locker
	election.Peeker
}

// Lock is a candidate, and a resourcelock.Interface. Use it for one leaderelection.LeaderElector. Its methods are safe
// for concurrent use.
type Lock struct {
	locker         Locker
	name, identity string

	mu     sync.Mutex
	lease  lock.Lease // of this candidate's term, also when it is over; nil if client-go does not lead
	record resourcelock.LeaderElectionRecord
}

// New returns a candidate for the leadership of name. identity is what it is called; no other candidate may have it.
// The others see the name that was given with lock.WithInstance: use the same.
//
// LeaseDuration is in whole seconds, and at most lock.WithMaxTTL.
func New(locker Locker, name, identity string) *Lock {
	return &Lock{locker: locker, name: name, identity: identity}
}

// Get returns who leads. It asks the nodes, and changes nothing on them.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, err := l.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(record)
	return record, raw, err
}

func (l *Lock) get(ctx context.Context) (*resourcelock.LeaderElectionRecord, error) {
	if lease, record := l.term(); lease != nil {
		if cause := context.Cause(lease.Context()); cause != nil {
			return nil, fmt.Errorf("clientgolock: the term of %q is over: %w", l.name, cause)
		}
		return &record, nil
	}
	seen, err := l.locker.Peek(ctx, l.name)
	if err != nil {
		return nil, err
	}
	if !seen.Held {
		return nil, errors.NewNotFound(schema.GroupResource{Group: "lockscope", Resource: "locks"}, l.name)
	}
	holder := seen.Holder.Instance
	if holder == "" {
		holder = "unknown"
	}
	return &resourcelock.LeaderElectionRecord{
		HolderIdentity: holder, AcquireTime: metav1.NewTime(seen.Holder.Since), RenewTime: metav1.NewTime(seen.SeenAt),
		LeaseDurationSeconds: int(math.Ceil(seen.NotAfter.Sub(seen.SeenAt).Seconds())),
	}, nil
}

// Create is Update.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

// Update acquires the lease, renews it, or releases it if record names no holder. It fails with lock.ErrHeld while
// another candidate has the lease, and after the lease was lost until client-go has stopped leading.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) (err error) {
	lease, _ := l.term()
	switch {
	case record.HolderIdentity == "" && lease == nil:
		return nil
	case record.HolderIdentity == "":
		return lease.Release(ctx)
	case lease != nil:
		err = lease.Extend(ctx)
	default:
		// client-go ends this context as soon as it leads, and it renews.
		lease, err = lock.AcquireDetached(ctx, l.locker, l.name, lock.NoWait(), lock.NoRenew(),
			lock.MaxHold(lock.Unlimited), lock.TTL(time.Duration(record.LeaseDurationSeconds)*time.Second))
	}
	if err == nil {
		l.set(lease, record)
	}
	return err
}

// stopped is the event that client-go records when it has stopped leading.
const stopped = "stopped leading"

// RecordEvent ends the term when client-go has stopped leading. It records nothing in Kubernetes.
func (l *Lock) RecordEvent(event string) {
	if event == stopped {
		l.set(nil, resourcelock.LeaderElectionRecord{})
	}
}

// Identity returns the name of the candidate.
func (l *Lock) Identity() string { return l.identity }

// Describe returns the name of the election.
func (l *Lock) Describe() string { return l.name }

// Fence returns the number of this candidate's term, its fencing token; 0 if it does not lead. The token of a term that
// is over stays until client-go has stopped leading: a storage refuses it once it has seen a later one.
func (l *Lock) Fence() uint64 {
	if lease, _ := l.term(); lease != nil {
		return lease.Fence()
	}
	return 0
}

// Leading is for LeaderCallbacks.OnStartedLeading, and for a Runnable or Reconcile of controller-runtime. The context of
// fn ends when the lease does, also if client-go hangs, and when that of client-go ends. fn is not called if the term is
// over by then.
func (l *Lock) Leading(fn func(context.Context)) func(context.Context) {
	return func(leading context.Context) {
		lease, _ := l.term()
		if lease == nil {
			return
		}
		ctx, stop := lock.WorkContext(leading, lease)
		defer stop()
		fn(ctx)
	}
}

func (l *Lock) term() (lock.Lease, resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease, l.record
}

func (l *Lock) set(lease lock.Lease, record resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease, l.record = lease, record
}

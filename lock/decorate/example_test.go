package decorate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// lossCounter counts the leases of a Locker that were lost.
type lossCounter struct {
	next  lock.Locker
	layer *decorate.Layer
	lost  atomic.Int64
	open  sync.WaitGroup // leases that have not ended yet
}

func countLosses(next lock.Locker) *lossCounter {
	return &lossCounter{next: next, layer: decorate.NewLayer(nil)}
}

func (c *lossCounter) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	l := &countedLease{counter: c}
	l.call.Start(ctx, c.layer, l)
	next, err := c.next.Acquire(&l.call, resource, opts...)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	l.Begin(&l.call, next, l)
	l.Watch()
	return l, nil
}

type countedLease struct {
	decorate.Lease
	call    decorate.Call
	counter *lossCounter
}

func (l *countedLease) Ended(_ context.Context, cause error) {
	defer l.counter.open.Done()
	if errors.Is(cause, lock.ErrLost) {
		l.counter.lost.Add(1)
	}
}

// A custom decorator that counts lost leases.
func Example() {
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	counter := countLosses(locker)

	for _, resource := range []string{"order:1001", "order:1002"} {
		err := lock.Do(context.Background(), counter, resource, func(ctx context.Context, lease lock.Lease) error {
			if resource == "order:1002" {
				return locker.Lose(resource) // as a partition or a pause may
			}
			return nil
		})
		fmt.Println(resource, "lost:", errors.Is(err, lock.ErrLost))
	}
	counter.open.Wait()
	fmt.Println("leases lost:", counter.lost.Load())
	// Output:
	// order:1001 lost: false
	// order:1002 lost: true
	// leases lost: 1
}

// attempts is a decorator that reports the attempts of an Acquire, which only hooks see.
type attempts struct {
	next  lock.Locker
	layer *decorate.Layer
}

type attemptsLease struct {
	decorate.Lease
	call decorate.Call
	n    atomic.Int32
}

func printAttempts(next lock.Locker) lock.Locker {
	a := &attempts{next: next}
	a.layer = decorate.NewLayer(&locktrace.Trace{AttemptEnd: a.onAttemptEnd})
	return a
}

func (a *attempts) onAttemptEnd(ctx context.Context, _ locktrace.AttemptEnd) {
	if l, ok := a.layer.Find(ctx).(*attemptsLease); ok {
		l.n.Add(1)
	}
}

func (a *attempts) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	l := new(attemptsLease)
	l.call.Start(ctx, a.layer, l)
	next, err := a.next.Acquire(&l.call, resource, opts...)
	if l.call.Hooked() {
		fmt.Printf("%s: attempts: %d\n", resource, l.n.Load())
	}
	if err != nil {
		return nil, err
	}
	l.Begin(&l.call, next, nil)
	return l, nil
}

// A decorator that counts events that only the algorithm sees.
func ExampleLayer_Find() {
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	counted := printAttempts(locker)
	lease, err := counted.Acquire(context.Background(), "order:1001")
	if err != nil {
		log.Fatal(err)
	}
	_, err = counted.Acquire(context.Background(), "order:1001", lock.NoWait())
	fmt.Println(lock.ReasonOf(err))
	if err := lease.Release(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order:1001: attempts: 1
	// order:1001: attempts: 1
	// held
}

package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// shared is a node whose key another library uses, too. taken returns until when that library's lock lasts at an
// instant, or zero if it is free. That holder names no waiter.
type shared struct {
	taken  func(at time.Duration) (left time.Duration)
	began  time.Time
	holder string // what the value says about its holder

	mu      sync.Mutex
	queue   []string
	counter uint64
	asked   map[string][]time.Duration // when each waiter asked
}

// sharedWith must be called in the bubble.
func sharedWith(taken func(at time.Duration) time.Duration) *shared {
	return &shared{taken: taken, began: time.Now(), asked: make(map[string][]time.Duration)}
}

// process is an engine on the node, the only one of its process.
func (s *shared) process(t *testing.T, opts ...lock.Option) *engine.Engine {
	t.Helper()
	return processOf(t, []*shared{s}, opts...)
}

func processOf(t *testing.T, on []*shared, opts ...lock.Option) *engine.Engine {
	t.Helper()
	clock := engine.WithClock(func() time.Duration { return time.Since(on[0].began) })
	var nodes []driver.Node
	for i, s := range on {
		nodes = append(nodes, engine.Async(&sharedLink{shared: s, name: fmt.Sprint("shared", i)}))
	}
	e, err := engine.NewEngine(nodes, append([]lock.Option{clock}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// sharedLink is the connection of one process.
type sharedLink struct {
	driver.BlockingLockOnly
	*shared
	name, waiter string
}

func (l *sharedLink) Name() string { return l.name }
func (*sharedLink) System() string { return "test" }

func (l *sharedLink) Acquire(_ context.Context, req driver.AcquireRequest) (reply driver.AcquireReply, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Since(l.began)
	l.asked[l.waiter] = append(l.asked[l.waiter], at)
	if left := l.taken(at); left != 0 {
		reply.TTL, reply.Holder = left, l.holder
		if req.Waiter.Enqueue {
			if !slices.Contains(l.queue, req.Waiter.ID) {
				l.queue = append(l.queue, req.Waiter.ID)
			}
			reply.Ticket, reply.Ahead = 1, slices.Index(l.queue, req.Waiter.ID)
		}
		return reply, nil
	}
	l.counter++
	return driver.AcquireReply{Granted: true, Counter: max(l.counter, req.Floor)}, nil
}

func (*sharedLink) Raise(context.Context, driver.RaiseRequest) (bool, error) { return true, nil }

func (*sharedLink) Extend(context.Context, driver.ExtendRequest) (driver.ExtendReply, error) {
	return driver.ExtendDone, nil
}

func (*sharedLink) Release(context.Context, driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return driver.ReleaseReply{Found: driver.FoundOwn}, nil
}

func (l *sharedLink) Leave(_ context.Context, req driver.LeaveRequest) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(id string) bool { return id == req.WaiterID })
	return nil
}

func (l *sharedLink) Subscribe(_ context.Context, waiterID string, _ func(string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiter = waiterID
	return nil
}

func (*sharedLink) Close() error { return nil }

// looks returns how often each waiter asked between two instants, highest first.
func (s *shared) looks(from, to time.Duration) (each []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		n := 0
		for _, at := range asked {
			if from <= at && at < to {
				n++
			}
		}
		each = append(each, n)
	}
	slices.SortFunc(each, func(a, b int) int { return b - a })
	return each
}

// again is a holder that releases for a moment after each hold and notifies nobody.
func again(hold, pause, ttl time.Duration) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if since := at % (hold + pause); since < hold {
			return ttl - since
		}
		return 0
	}
}

// TestAForeignHolderIsMetBetweenItsHolds: another library holds for 300 ms, pauses for 130 ms, and notifies nobody. A
// waiter that looks at least every 100 ms meets the next gap.
func TestAForeignHolderIsMetBetweenItsHolds(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := sharedWith(again(300*time.Millisecond, 130*time.Millisecond, 8*time.Second))
			lease, err := s.process(t).Acquire(t.Context(), "job")
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(s.began); took > 430*time.Millisecond {
				t.Errorf("it was acquired after %v, not in the first gap", took)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// waitFor has n processes wait for d without success.
func (s *shared) waitFor(t *testing.T, d time.Duration, n int, opts ...lock.Option) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		e := s.process(t, opts...)
		all.Go(func() {
			if _, err := e.Acquire(t.Context(), "job", lock.MaxWait(d)); err == nil {
				t.Error("it was acquired")
			}
		})
	}
	all.Wait()
}

// TestAGateThatIsWrongHidesNoFreeLock: a key of another library stays on the gate, and the other two nodes are free
// after a second.
func TestAGateThatIsWrongHidesNoFreeLock(t *testing.T) {
	for wrong := range 3 {
		synctest.Test(t, func(t *testing.T) {
			var nodes []*shared
			for i := range 3 {
				nodes = append(nodes, sharedWith(func(at time.Duration) time.Duration {
					if i == wrong || at < time.Second {
						return -1
					}
					return 0
				}))
			}
			lease, err := processOf(t, nodes).Acquire(t.Context(), "job",
				lock.MaxWait(time.Second+2*lock.DefaultPollInterval))
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAHolderOfOursIsWaitedForAsEver: it will notify the first in the queue, so nobody needs to look often.
func TestAHolderOfOursIsWaitedForAsEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sharedWith(func(at time.Duration) time.Duration { return 10*minute - at })
		s.holder = "host/1|0||host.1"
		s.waitFor(t, minute, 1)
		if looks := s.looks(minute/2, minute/2+10*time.Second)[0]; looks > 40 {
			t.Errorf("it looked %d times in ten seconds, more often than every 250 ms", looks)
		}
	})
}

const minute = time.Minute

// TestOnlyTheFirstInTheQueueLooksOften, and less often the longer a hold lasts.
func TestOnlyTheFirstInTheQueueLooksOften(t *testing.T) {
	for name, c := range map[string]struct {
		taken     func(time.Duration) time.Duration
		low, high int // looks of the first in ten seconds
	}{
		"many short holds":   {again(10*time.Millisecond, 0, 8*time.Second), 130, 200},
		"one long hold":      {func(at time.Duration) time.Duration { return 10*minute - at }, 50, 80},
		"one without an end": {func(time.Duration) time.Duration { return -1 }, 50, 80},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sharedWith(c.taken)
				s.waitFor(t, minute, 100)
				each := s.looks(minute/2, minute/2+10*time.Second)
				t.Log(each)
				if each[0] < c.low || each[0] > c.high {
					t.Errorf("the first looked %d times in ten seconds, want %d to %d", each[0], c.low, c.high)
				}
				if each[1] > 40 {
					t.Errorf("the next looked %d times, more often than every 250 ms", each[1])
				}
			})
		})
	}
}

// TestAProcessLooksABoundedNumberOfTimes, however many resources it waits for.
func TestAProcessLooksABoundedNumberOfTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const resources = 400
		s := sharedWith(again(10*time.Millisecond, 0, 8*time.Second))
		e := s.process(t)
		var all sync.WaitGroup
		for i := range resources {
			all.Go(func() {
				_, _ = e.Acquire(t.Context(), string(rune('a'+i%26))+string(rune('a'+i/26)), lock.MaxWait(minute))
			})
		}
		all.Wait()
		looks := s.looks(minute/2, minute/2+10*time.Second)[0]
		t.Log(looks)
		if limit := 10 * resources * 4; looks > limit {
			t.Errorf("%d waiters looked %d times in ten seconds, want at most %d", resources, looks, limit)
		}
	})
}

// TestThePollIntervalSlowsLooksDown, also looks at another library's holder.
func TestThePollIntervalSlowsLooksDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sharedWith(func(time.Duration) time.Duration { return -1 })
		s.waitFor(t, 10*time.Hour, 1, lock.WithPollInterval(time.Hour))
		if looks := s.looks(0, 10*time.Hour)[0]; looks > 120 {
			t.Errorf("it looked %d times in ten hours, with a poll interval of one hour", looks)
		}
	})
}

package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// inTime is far more than anything here takes, also on a busy machine.
const inTime = time.Minute

// crowd is callers of several processes that wait for the permits of one semaphore on redis-servers.
type crowd struct {
	*testing.T
	servers []*redisproc.Server
	judge   *judge
	holder  *semaphore.Semaphore
	held    []*semaphore.Permit
	over    chan error // one a caller
	callers int
}

const (
	crowdSlots     = 3
	crowdProcesses = 4
	crowdCallers   = 3 // of each process
	crowdRounds    = 4
)

// newCrowd has a process that holds all permits, and waits until all others queue behind it.
func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{
		T: t, servers: newServers(t, 5), judge: &judge{t: t, k: crowdSlots},
		over: make(chan error, crowdProcesses*crowdCallers),
	}
	c.holder = newSemaphore(t, redisLocker(t, c.servers, lock.WithInstance("holder")), crowdSlots)
	for range crowdSlots {
		p, err := c.holder.Acquire(t.Context())
		must(t, err)
		c.judge.begins(p)
		c.held = append(c.held, p)
	}
	queues := make(chan struct{}, 1000)
	for i := range crowdProcesses {
		s := newSemaphore(t, redisLocker(t, c.servers, lock.WithInstance(fmt.Sprint("process ", i))), crowdSlots)
		for range crowdCallers {
			c.callers++
			go func() { c.over <- c.takeTurns(s, queues) }()
		}
		c.signal(queues, "process does not queue")
	}
	return c
}

// takeTurns acquires and releases. It signals the first time that it waits in the queue of the nodes.
func (c *crowd) takeTurns(s *semaphore.Semaphore, queues chan<- struct{}) error {
	ctx := locktrace.With(c.Context(), &locktrace.Trace{WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
		if e.Kind == locktrace.WaitHolder {
			select {
			case queues <- struct{}{}:
			default:
			}
		}
		return ctx
	}})
	for range crowdRounds {
		p, err := s.Acquire(ctx)
		if err != nil {
			return err
		}
		c.judge.begins(p)
		time.Sleep(rand.N(10 * time.Millisecond))
		c.release(p)
	}
	return nil
}

// release tolerates permits that were lost: the machine may have stood still.
func (c *crowd) release(p *semaphore.Permit) {
	c.judge.ends(p)
	err := p.Release(c.Context())
	if failure, ok := errors.AsType[*lock.ReleaseError](err); err != nil && !(ok && failure.Lost) {
		c.Error(err)
	}
}

func (c *crowd) signal(from <-chan struct{}, or string) {
	c.Helper()
	select {
	case <-from:
	case <-time.After(inTime):
		c.Fatal(or)
	}
}

// gate is the server that has the queue.
func (c *crowd) gate() *redisproc.Server {
	c.Helper()
	for _, s := range c.servers {
		if len(c.send(s, "KEYS", "lockscope:queue:*").([]any)) > 0 {
			return s
		}
	}
	c.Fatal("no server has a queue")
	return nil
}

func (c *crowd) send(s *redisproc.Server, args ...any) any {
	c.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer client.Close()
	reply, err := client.Do(c.Context(), args...).Result()
	must(c, err)
	return reply
}

// releaseAll releases what the holder has. Every caller must then get its turns.
func (c *crowd) releaseAll() {
	c.Helper()
	for _, p := range c.held {
		c.release(p)
	}
	end := time.After(inTime)
	for range c.callers {
		select {
		case err := <-c.over:
			must(c, err)
		case <-end:
			c.Fatal("a permit was released and reached nobody")
		}
	}
}

// wantAllFree fails unless a new process gets all permits, and not one more.
func (c *crowd) wantAllFree() {
	c.Helper()
	s := newSemaphore(c, redisLocker(c, c.servers, lock.WithInstance("last")), crowdSlots)
	for range crowdSlots {
		p, err := s.Acquire(c.Context(), lock.MaxWait(inTime))
		must(c, err)
		c.judge.begins(p)
		defer c.release(p)
	}
	if _, err := s.TryAcquire(c.Context()); !errors.Is(err, lock.ErrHeld) {
		c.Errorf("one more permit: %v", err)
	}
}

// TestRealGateFails: permits are held and callers of four processes wait when the server that has their queue fails, in
// each way. All callers get their turns, and never more than k permits are valid.
func TestRealGateFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		begin func(c *crowd, s *redisproc.Server)
		end   func(c *crowd, s *redisproc.Server) // nil if it votes again by itself, later
	}{
		"dead": {begin: func(c *crowd, s *redisproc.Server) { must(c, s.Kill()) }},
		"hung": {
			func(c *crowd, s *redisproc.Server) { must(c, s.Pause()) },
			func(c *crowd, s *redisproc.Server) { must(c, s.Resume()) },
		},
		"read-only": {
			func(c *crowd, s *redisproc.Server) { c.send(s, "REPLICAOF", "127.0.0.1", "1") }, // nobody is there
			func(c *crowd, s *redisproc.Server) { c.send(s, "REPLICAOF", "NO", "ONE") },
		},
		"emptied":   {begin: func(c *crowd, s *redisproc.Server) { c.send(s, "FLUSHALL") }},
		"restarted": {begin: func(c *crowd, s *redisproc.Server) { must(c, s.Restart(c.Context())) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			gate := c.gate()
			fault.begin(c, gate)
			c.releaseAll()
			c.wantAllFree()
			if fault.end != nil {
				fault.end(c, gate)
				c.wantAllFree()
			}
			c.judge.wantMost()
		})
	}
}

// TestRealNoQuorumWhileWaiting: three servers of five hang while permits are held and callers wait. A caller that does
// not wait, and one that waits for a limited time, get an error that says so. The permits end by the clock. Afterwards
// every caller gets its turns.
func TestRealNoQuorumWhileWaiting(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	for _, s := range c.servers[:3] {
		must(t, s.Pause())
	}
	ctx, cancel := context.WithTimeout(t.Context(), inTime)
	defer cancel()
	other := newSemaphore(t, redisLocker(t, c.servers, lock.WithInstance("asks")), crowdSlots)
	_, err := other.TryAcquire(ctx)
	if failure, ok := errors.AsType[*lock.QuorumError](err); !ok || len(failure.Errors) < 3 {
		t.Errorf("without waiting: %v", err)
	}
	if _, err = other.Acquire(ctx, lock.MaxWait(3*time.Second)); !errors.Is(err, lock.ErrMaxWait) || ctx.Err() != nil {
		t.Errorf("with MaxWait: %v", err)
	}
	for _, p := range c.held {
		select {
		case <-p.Context().Done():
		case <-ctx.Done():
			t.Fatal("a permit goes on without a quorum")
		}
		if cause := context.Cause(p.Context()); !errors.Is(cause, lock.ErrLost) || p.Remaining() > 0 {
			t.Errorf("ended with %v and %v left", cause, p.Remaining())
		}
	}
	for _, s := range c.servers[:3] {
		must(t, s.Resume())
	}
	c.releaseAll()
	c.wantAllFree()
}

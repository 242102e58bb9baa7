package locktest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// FakeNode is one client's connection to a [FakeServer]: a [driver.BlockingNode] whose requests and replies
// are delayed, lost, repeated or late, as its [Faults] set. Each kind of request on each resource has its
// own random generator, so that racing goroutines do not change each other's faults.
type FakeNode struct {
	server *FakeServer
	seed   uint64
	guard  *guard.Guard // nil: the server itself knows whether it may vote
	guards *Guards

	mu     sync.Mutex // taken after server.mu
	faults Faults
	luck   map[string]*rand.Rand
	idle   []connection // with a guard: those that are not in use

	firstSight *guard.Sight // for controls

	subscription
}

var _ driver.BlockingNode = (*FakeNode)(nil)

// Connect returns a client's node for the server. Closing it does not affect the server or other nodes. seed
// determines its faults.
func (s *FakeServer) Connect(seed uint64, f Faults) *FakeNode {
	n := &FakeNode{server: s, seed: seed, faults: f, luck: make(map[string]*rand.Rand)}
	n.done = make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[n] = struct{}{}
	return n
}

// SetFaults replaces the faults, for requests from now on.
func (n *FakeNode) SetFaults(f Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = f
}

// Name returns the server's name.
func (n *FakeNode) Name() string { return n.server.name }

// Capabilities returns all.
func (n *FakeNode) Capabilities() driver.Capabilities {
	return driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true, SlotQueue: true}
}

// Warm does nothing: each request connects by itself.
func (n *FakeNode) Warm(context.Context) error { return nil }

// System returns "redis".
func (n *FakeNode) System() string { return "redis" }

// Acquire implements driver.BlockingNode. A server in quarantine is not asked.
func (n *FakeNode) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if n.guard != nil {
		return n.guardedAcquire(ctx, req)
	}
	if left := n.server.quarantine(); left > 0 {
		return driver.AcquireReply{}, fmt.Errorf("%w: %w: for %v", driver.ErrNotSent, driver.ErrQuarantined, left)
	}
	return n.acquire(ctx, req)
}

func (n *FakeNode) acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	type vote struct {
		reply driver.AcquireReply
		err   error
	}
	v, err := call(ctx, n, "acquire", req.Key, func(s *commands) (v vote) {
		if marker, ok := s.Proven(s.sight.Expected()); !ok {
			n.server.tell("acquire", "%.6s %s: not with %q", req.Token, req.Key, marker)
			return vote{err: errUnproven}
		}
		v.reply, v.err = s.Acquire(req)
		n.server.given(v.reply.Granted, req.TTL)
		n.server.tell("acquire", "%.6s %s: %+v %v", req.Token, req.Key, v.reply, v.err)
		return v
	})
	if err != nil {
		return driver.AcquireReply{}, err
	}
	return v.reply, v.err
}

// Raise implements driver.BlockingNode.
func (n *FakeNode) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	return call(ctx, n, "raise", req.Key, func(s *commands) bool {
		raised := s.Raise(req)
		n.server.tell("raise", "%.6s:%d to %d %s: %v", req.Token, req.Counter, req.Fence, req.Key, raised)
		return raised
	})
}

// Extend implements driver.BlockingNode.
func (n *FakeNode) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	type answer struct {
		reply driver.ExtendReply
		other string
		err   error
	}
	got, err := call(ctx, n, "extend", req.Key, func(s *commands) (a answer) {
		if s.OtherConfiguration(s.sight.Fingerprint(), s.sight.Expected()) {
			a.other = s.Marker
			n.server.tell("extend", "%.6s %s: not with %q", req.Token, req.Key, a.other)
			return a
		}
		_, votes := s.Proven(s.sight.Expected())
		a.reply, a.err = s.Extend(req, votes)
		n.server.given(a.reply == driver.ExtendDone || a.reply == driver.ExtendRefilled, req.TTL)
		n.server.tell("extend", "%.6s %s: %v %v", req.Token, req.Key, a.reply, a.err)
		return a
	})
	switch {
	case err != nil:
		return driver.ExtendGone, err
	case got.other != "":
		return driver.ExtendGone, n.guard.OtherConfiguration(got.other)
	}
	return got.reply, got.err
}

// Release implements driver.BlockingNode.
func (n *FakeNode) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return call(ctx, n, "release", req.Key, func(s *commands) driver.ReleaseReply {
		reply := s.Release(req)
		n.server.tell("release", "%.6s %s tombstone %v: %+v", req.Token, req.Key, req.Tombstone, reply)
		return reply
	})
}

// Leave implements driver.BlockingNode.
func (n *FakeNode) Leave(ctx context.Context, req driver.LeaveRequest) error {
	_, err := call(ctx, n, "leave", req.Key, func(s *commands) struct{} {
		s.Leave(req)
		n.server.tell("leave", "%.6s %s", req.WaiterID, req.Key)
		return struct{}{}
	})
	return err
}

// Peek implements driver.BlockingNode. A server in quarantine is not asked.
func (n *FakeNode) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if n.guard != nil {
		return n.guardedPeek(ctx, req)
	}
	if left := n.server.quarantine(); left > 0 {
		return driver.PeekReply{}, fmt.Errorf("%w: %w: for %v", driver.ErrNotSent, driver.ErrQuarantined, left)
	}
	reply, _, err := n.peek(ctx, req)
	return reply, err
}

// peek returns errUnproven with the marker of a server that does not vote for this connection.
func (n *FakeNode) peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, string, error) {
	type answer struct {
		reply  driver.PeekReply
		marker string
		proven bool
	}
	a, err := call(ctx, n, "peek", req.Key, func(s *commands) (a answer) {
		if a.marker, a.proven = s.ProvenToRead(s.sight.Expected()); a.proven {
			a.reply = s.Peek(req)
		}
		n.server.tell("peek", "%s: %+v", req.Key, a)
		return a
	})
	if err == nil && !a.proven {
		err = errUnproven
	}
	return a.reply, a.marker, err
}

// call sends one request and waits for its reply until ctx ends. do runs on the
// server, perhaps twice and perhaps after call has returned without its result.
func call[T any](ctx context.Context, n *FakeNode, op, key string, do func(*commands) T) (T, error) {
	var none, result T
	readOnly := false
	err := n.send(ctx, op+" "+key, func(s *commands) {
		if readOnly = s.readOnly; !readOnly {
			result = do(s)
		}
	}, func(s *commands) {
		if !s.readOnly {
			do(s)
		}
	})
	switch {
	case err != nil:
		return none, err
	case readOnly:
		return none, errReadOnly
	}
	return result, nil
}

// errReadOnly is what a replica replies to a script that writes.
const errReadOnly = replyError("READONLY You can't write against a read only replica.")

type replyError string

func (e replyError) Error() string { return string(e) }

// RedisError marks the reply as one, as go-redis does.
func (replyError) RedisError() {}

// send runs do on the server while the caller waits; unheard when it does not.
func (n *FakeNode) send(ctx context.Context, key string, do, unheard func(*commands)) error {
	conn, err := n.connection(ctx)
	if err != nil {
		return err
	}
	if err := n.exchange(ctx, conn, key, do, unheard); err != nil {
		return err // and the connection is not used again
	}
	n.giveBack(conn)
	return nil
}

// exchange is one request and its reply on a connection.
func (n *FakeNode) exchange(ctx context.Context, conn connection, key string, do, unheard func(*commands)) error {
	f := n.fate(key)
	if f.lost {
		<-ctx.Done()
		return memstate.Timeout(ctx)
	}
	began := time.Now()
	if err := memstate.Wait(ctx, f.there); err != nil {
		n.server.afterwards(conn, f.there-time.Since(began), unheard)
		return err
	}
	for {
		paused, err := n.server.execute(conn, do)
		if err != nil {
			return &net.OpError{Op: "read", Net: "fake", Err: err}
		}
		if paused == nil {
			break
		}
		select {
		case <-paused:
		case <-ctx.Done():
			n.server.afterwards(conn, 0, unheard)
			return memstate.Timeout(ctx)
		}
	}
	if f.twice {
		n.server.afterwards(conn, f.again, unheard)
	}
	if f.replyLost {
		<-ctx.Done()
		return memstate.Timeout(ctx)
	}
	return memstate.Wait(ctx, f.back)
}

func (n *FakeNode) fate(key string) fate {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.faults.draw(n.rng(key))
}

// rng expects the mutex to be held.
func (n *FakeNode) rng(key string) *rand.Rand {
	r, ok := n.luck[key]
	if !ok {
		h := fnv.New64a()
		_, _ = h.Write([]byte(key))
		r = rand.New(rand.NewPCG(n.seed, h.Sum64()))
		n.luck[key] = r
	}
	return r
}

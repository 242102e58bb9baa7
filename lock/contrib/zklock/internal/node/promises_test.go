package node_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/node"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/zktest"
	"github.com/lockscope/lockscope/lock/driver"
)

// connect returns a node of a process that is connected to these servers.
func connect(t *testing.T, servers []string, dial zk.Dialer, clock func() time.Duration) *node.Node {
	n := node.New("zk", zktest.Connect(t, servers, dial, clock), "/locks", zk.WorldACL(zk.PermAll))
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// connectTwo returns nodes of two processes.
func connectTwo(t *testing.T) (n, other *node.Node) {
	servers := zktest.Start(t)
	return connect(t, servers, nil, zktest.Still), connect(t, servers, nil, zktest.Still)
}

// attempts asks nodes for one lock.
type attempts struct {
	t      *testing.T
	key    string
	tokens int
}

// ask is one attempt, with its token.
func (a *attempts) ask(n *node.Node, req driver.AcquireRequest) (string, driver.AcquireReply) {
	a.t.Helper()
	a.tokens++
	req.Key, req.Token, req.TTL, req.Floor = a.key, fmt.Sprintf("%032x", a.tokens), 10*time.Second, 1
	reply, err := n.Acquire(a.t.Context(), req)
	if err != nil {
		a.t.Fatal(err)
	}
	return req.Token, reply
}

func (a *attempts) release(n *node.Node, token string) {
	a.t.Helper()
	if _, err := n.Release(a.t.Context(), driver.ReleaseRequest{Key: a.key, Token: token}); err != nil {
		a.t.Fatal(err)
	}
}

// TestPeekSyncs: the server may lag behind, and name a leader that has resigned.
func TestPeekSyncs(t *testing.T) {
	syncs := &zktest.Requests{Kind: zktest.Syncs}
	n := connect(t, zktest.Start(t), syncs.Dial, zktest.Still)
	a := attempts{t: t, key: "a"}
	a.ask(n, driver.AcquireRequest{Holder: "h|0|"})
	before := syncs.Count.Load()
	reply, err := n.Peek(t.Context(), driver.PeekRequest{Key: "a"})
	if got := syncs.Count.Load() - before; err != nil || !reply.Held || got != 1 {
		t.Errorf("%+v, %v, with %d syncs", reply, err, got)
	}
}

// TestAWaiterForASlotThatIsGone gets no permit, although its claim is first.
func TestAWaiterForASlotThatIsGone(t *testing.T) {
	n, other := connectTwo(t)
	a := attempts{t: t, key: "pool#1"}
	slot := func() *driver.Semaphore { return &driver.Semaphore{Key: "pool", Slot: 1, Slots: 2, Keep: time.Hour} }
	holder, first := a.ask(n, driver.AcquireRequest{Semaphore: slot()})
	_, waits := a.ask(other, driver.AcquireRequest{Semaphore: slot(), Waiter: driver.Waiter{Enqueue: true}})
	if !first.Granted || waits.Granted || waits.Ticket == 0 {
		t.Fatalf("%+v, then %+v", first, waits)
	}
	if known, err := n.Resize(t.Context(), driver.ResizeRequest{Key: "pool", From: 2, To: 1}); err != nil || known != 2 {
		t.Fatal(known, err)
	}
	a.release(n, holder)
	_, late := a.ask(other, driver.AcquireRequest{Semaphore: slot(), Waiter: driver.Waiter{Ticket: waits.Ticket}})
	if late.Granted || late.Slots != 1 {
		t.Errorf("of one slot: %+v", late)
	}
}

// TestAWriterIsNoReader: a writer does not take over the claim with which a reader of its process waits.
func TestAWriterIsNoReader(t *testing.T) {
	n, other := connectTwo(t)
	a := attempts{t: t, key: "a"}
	holder, first := a.ask(n, driver.AcquireRequest{Mode: driver.Write})
	queued := driver.Waiter{Enqueue: true}
	_, reader := a.ask(other, driver.AcquireRequest{Mode: driver.Read, Waiter: queued})
	_, writer := a.ask(other, driver.AcquireRequest{Mode: driver.Write, Waiter: queued})
	if !first.Granted || reader.Granted || writer.Granted {
		t.Fatalf("%+v, %+v and %+v", first, reader, writer)
	}
	a.release(n, holder)
	_, writer = a.ask(other, driver.AcquireRequest{Mode: driver.Write, Waiter: driver.Waiter{Ticket: writer.Ticket}})
	_, reader = a.ask(n, driver.AcquireRequest{Mode: driver.Read})
	if writer.Granted && reader.Granted {
		t.Error("a reader beside a writer")
	}
}

// TestAClaimThatIsReplaced ends. Nobody would look for it, and it would bar the others until its session ends.
func TestAClaimThatIsReplaced(t *testing.T) {
	n, other := connectTwo(t)
	a := attempts{t: t, key: "a"}
	holder, first := a.ask(n, driver.AcquireRequest{Mode: driver.Write})
	queued := driver.Waiter{Enqueue: true}
	_, reader := a.ask(other, driver.AcquireRequest{Mode: driver.Read, Waiter: queued})
	_, writer := a.ask(other, driver.AcquireRequest{Mode: driver.Write, Waiter: queued})
	if !first.Granted || reader.Granted || writer.Granted {
		t.Fatalf("%+v, %+v and %+v", first, reader, writer)
	}
	a.release(n, holder)
	again := driver.AcquireRequest{Mode: driver.Write, Waiter: driver.Waiter{Ticket: writer.Ticket}}
	for end := time.Now().Add(30 * time.Second); !writer.Granted; _, writer = a.ask(other, again) {
		if time.Now().After(end) {
			t.Fatalf("the writer waits for its own process: %+v", writer)
		}
	}
}

// TestAWatchOutlivesRenewals: who is in front writes its claim anew when it extends. Who watches that claim is woken
// when it is gone, and not before.
func TestAWatchOutlivesRenewals(t *testing.T) {
	n := connect(t, zktest.Start(t), nil, zktest.Still)
	woken := make(chan string, 10)
	if err := n.Subscribe(t.Context(), "", func(key string) { woken <- key }); err != nil {
		t.Fatal(err)
	}
	ask := func(token int, waiter driver.Waiter) driver.AcquireReply {
		t.Helper()
		reply, err := n.Acquire(t.Context(),
			driver.AcquireRequest{Key: "a", Token: fmt.Sprintf("%032x", token), TTL: 10 * time.Second, Floor: 1,
				Holder: fmt.Sprintf("h%d|0|", token), Waiter: waiter})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if reply := ask(1, driver.Waiter{}); !reply.Granted {
		t.Fatalf("the first: %+v", reply)
	}
	waits := ask(2, driver.Waiter{Enqueue: true})
	if waits.Granted || waits.Holder != "h1|0|" {
		t.Fatalf("the second: %+v", waits)
	}
	first := fmt.Sprintf("%032x", 1)
	for range 5 {
		if reply, err := n.Extend(t.Context(),
			driver.ExtendRequest{Key: "a", Token: first, TTL: 10 * time.Second, Holder: "h1|0|"}); err != nil ||
			reply != driver.ExtendDone {
			t.Fatal(reply, err)
		}
	}
	select {
	case <-woken:
		t.Error("woken by a renewal")
	default:
	}
	if _, err := n.Release(t.Context(), driver.ReleaseRequest{Key: "a", Token: first}); err != nil {
		t.Fatal(err)
	}
	<-woken
	if reply := ask(3, driver.Waiter{Ticket: waits.Ticket}); !reply.Granted {
		t.Errorf("the second, when the first is gone: %+v", reply)
	}
}

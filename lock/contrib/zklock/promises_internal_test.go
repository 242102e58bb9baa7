package zklock

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// attempts asks nodes for one lock.
type attempts struct {
	t      *testing.T
	key    string
	tokens int
}

// ask is one attempt, with its token.
func (a *attempts) ask(n *node, req driver.AcquireRequest) (string, driver.AcquireReply) {
	a.t.Helper()
	a.tokens++
	req.Key, req.Token, req.TTL, req.Floor = a.key, fmt.Sprintf("%032x", a.tokens), 10*time.Second, 1
	reply, err := n.Acquire(a.t.Context(), req)
	if err != nil {
		a.t.Fatal(err)
	}
	return req.Token, reply
}

func (a *attempts) release(n *node, token string) {
	a.t.Helper()
	if _, err := n.Release(a.t.Context(), driver.ReleaseRequest{Key: a.key, Token: token}); err != nil {
		a.t.Fatal(err)
	}
}

// TestTheBaseIsReadInEachSession: the next one may be on an ensemble that was made anew, where tokens would go back.
func TestTheBaseIsReadInEachSession(t *testing.T) {
	n := startNode(t)
	p, _ := takePlace(t, n, 1)
	fence := func() uint64 {
		t.Helper()
		fence, err := n.fence(p, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return fence - uint64(p.czxid)
	}
	if base := fence(); base != 1000 {
		t.Fatalf("the base is %d", base)
	}
	if _, err := n.link.Set(n.root+"/"+baseName, []byte("5000"), -1); err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	n.base.session--
	n.mu.Unlock()
	if base := fence(); base != 5000 {
		t.Errorf("the base is %d, which is another session's", base)
	}
}

// TestPeekSyncs: the server may lag behind, and name a leader that has resigned.
func TestPeekSyncs(t *testing.T) {
	syncs := &requests{kind: 9}
	n := connectBy(t, startServer(t).Addrs(), syncs.dial, func() time.Duration { return 0 })
	a := attempts{t: t, key: "a"}
	a.ask(n, driver.AcquireRequest{Holder: "h|0|"})
	before := syncs.count.Load()
	reply, err := n.Peek(t.Context(), driver.PeekRequest{Key: "a"})
	if got := syncs.count.Load() - before; err != nil || !reply.Held || got != 1 {
		t.Errorf("%+v, %v, with %d syncs", reply, err, got)
	}
}

// TestAWaiterForASlotThatIsGone gets no permit, although its place is first.
func TestAWaiterForASlotThatIsGone(t *testing.T) {
	e := startServer(t)
	n, other := connectNode(t, e), connectNode(t, e)
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

// TestAWriterIsNoReader: a writer does not take the place in which a reader of its process waits.
func TestAWriterIsNoReader(t *testing.T) {
	e := startServer(t)
	n, other := connectNode(t, e), connectNode(t, e)
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

// TestAPlaceThatIsReplaced ends. Nobody would look for it, and it would bar the others until its session ends.
func TestAPlaceThatIsReplaced(t *testing.T) {
	e := startServer(t)
	n, other := connectNode(t, e), connectNode(t, e)
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

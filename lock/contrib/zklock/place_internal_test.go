package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// startNode starts a server, and a node that asks it.
func startNode(t *testing.T) *node { return connectNode(t, startServer(t)) }

func startServer(t *testing.T) *zkproc.Ensemble {
	if testing.Short() {
		t.Skip("it needs ZooKeeper: make proof runs it")
	}
	e, err := zkproc.Start(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func connectNode(t *testing.T, e *zkproc.Ensemble) *node {
	return connectBy(t, e.Addrs(), nil, func() time.Duration { return 0 })
}

func connectBy(t *testing.T, servers []string, dial zk.Dialer, clock engine.Clock) *node {
	s := defaultSettings()
	s.dial = dial
	l, err := connect(servers, SessionFor(DefaultMaxTTL), engine.MaxNodeTimeout, s)
	if err != nil {
		t.Fatal(err)
	}
	n := newNode("zk", l, s, clock)
	t.Cleanup(func() { _ = n.Close() })
	for tries := 20; ; tries-- { // a server on a busy machine may answer after half a second
		if err := n.Warm(t.Context()); err == nil {
			return n
		} else if tries == 0 {
			t.Fatal(err)
		}
	}
}

// takePlace makes the place of an attempt, and returns the queue if that was seen with it.
func takePlace(t *testing.T, n *node, attempt int) (*place, []string) {
	p, _ := n.begin(driver.AcquireRequest{Key: "a", Token: fmt.Sprintf("%032x", attempt), TTL: time.Second})
	names, err := n.create(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, names
}

// TestCloseWhileItIsAsked: a client that is asked while it closes would never end, now and then.
func TestCloseWhileItIsAsked(t *testing.T) {
	e := startServer(t)
	for range 40 {
		n := connectNode(t, e)
		ended, asked := make(chan struct{}), make(chan struct{}, 1)
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				for err := error(nil); !errors.Is(err, zk.ErrClosing); _, _, err = n.link.Children("/") {
					select {
					case asked <- struct{}{}:
					case <-ended:
						return
					default:
					}
				}
			})
		}
		<-asked
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		close(ended)
		asking.Wait()
	}
}

// TestAPlaceOfAnotherSession: who queued and finds its place first has the lock only while
// the session lives that made it. The answer may be older than the end of that session, and
// the session that was synced be the next one.
func TestAPlaceOfAnotherSession(t *testing.T) {
	n := startNode(t)
	p, _ := takePlace(t, n, 1)
	for _, c := range []struct {
		of      string
		session int64
		want    int
	}{{"its own", n.link.SessionID(), 1}, {"the one before", n.link.SessionID() - 1, 0}} {
		n.mu.Lock()
		p.session = c.session
		n.mu.Unlock()
		if names, err := n.look(p, time.Second); err != nil || len(names) != c.want {
			t.Errorf("in %s session: %v, %v", c.of, names, err)
		}
	}
}

// TestAPlaceOfTheNextSession: a request that waits for a connection may be sent in another session than the one in
// which it was to be. What it makes is removed like any other place, and not left in front of all others.
func TestAPlaceOfTheNextSession(t *testing.T) {
	n := startNode(t)
	places := func() []string {
		t.Helper()
		names, _, err := n.link.Children(n.root + "/a")
		if err != nil {
			t.Fatal(err)
		}
		return queueOf(names)
	}
	notedBefore := func(p *place) {
		n.mu.Lock()
		defer n.mu.Unlock()
		p.session--
	}
	given, _ := takePlace(t, n, 1)
	notedBefore(given)
	n.remove(n.bury(given))
	if left := places(); len(left) != 0 {
		t.Errorf("given up, and still there: %v", left)
	}
	kept, _ := takePlace(t, n, 2)
	notedBefore(kept)
	reply, err := n.enter(kept, driver.AcquireRequest{Key: "a", Token: fmt.Sprintf("%032x", 2), TTL: time.Second,
		Floor: 1, Waiter: driver.Waiter{Enqueue: true}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if left := places(); len(left) != 1 || !reply.Granted {
		t.Errorf("in the queue are %v, and the answer is %+v", left, reply)
	}
}

// TestWhatMadeAPlace is told by the node above, whoever is in the queue, and the queue too if nobody else is.
func TestWhatMadeAPlace(t *testing.T) {
	n := startNode(t)
	const tries = 50
	for attempt := range tries {
		var queue []*place
		for at := range 3 {
			p, names := takePlace(t, n, 3*attempt+at)
			queue = append(queue, p)
			if _, stat, err := n.link.Exists(p.path); err != nil || stat.Czxid != p.czxid {
				t.Errorf("attempt %d, place %d: made by %x, %v; it is said to be %x", attempt, at, stat.Czxid, err,
					p.czxid)
			}
			if names != nil && len(names) != at+1 || names == nil && at == 0 {
				t.Errorf("attempt %d, place %d: in the queue are %v", attempt, at, names)
			}
		}
		for _, p := range queue {
			n.remove(n.bury(p))
		}
	}
}

// TestAWatchOutlivesRenewals: who is in front writes its place anew when it extends. Who watches that place is woken
// when it is gone, and not before.
func TestAWatchOutlivesRenewals(t *testing.T) {
	n := startNode(t)
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

package zklock

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/zklock/zkproc"
)

// startNode starts a server, and a node that asks it.
func startNode(t *testing.T) *node {
	e, err := zkproc.Start(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := defaultSettings()
	l, err := connect(e.Addrs(), 20*time.Second, s)
	if err != nil {
		t.Fatal(err)
	}
	n := newNode("zk", l, s)
	t.Cleanup(func() { _ = n.Close() })
	if err := n.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
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
		if names, err := n.look(p, true); err != nil || len(names) != c.want {
			t.Errorf("in %s session: %v, %v", c.of, names, err)
		}
	}
}

// TestWhatMadeAPlace is told by the children of the one above, if nothing else was made or
// deleted there: then, and only then, it is known at once, and it is right.
func TestWhatMadeAPlace(t *testing.T) {
	n := startNode(t)
	first, _ := takePlace(t, n, 0)
	n.remove(n.bury(first))
	const tries = 100
	known := 0
	for attempt := 1; attempt <= tries; attempt++ {
		n.crowded.Store(false) // the one before was not alone
		p, names := takePlace(t, n, attempt)
		_, stat, err := n.link.Exists(p.path)
		if err != nil {
			t.Fatal(err)
		}
		switch p.czxid {
		case stat.Czxid:
			known++
		case 0: // the requests were sent in another order
		default:
			t.Errorf("attempt %d: made by %x, not by %x", attempt, stat.Czxid, p.czxid)
		}
		if names != nil && len(names) != 1 {
			t.Errorf("attempt %d: in the queue are %v", attempt, names)
		}
		second, _ := takePlace(t, n, tries+attempt)
		if second.czxid != 0 {
			t.Errorf("attempt %d: of two places, one is said to be made by %x", attempt, second.czxid)
		}
		n.remove(n.bury(p))
		n.remove(n.bury(second))
	}
	t.Logf("known at once %d times of %d", known, tries)
	if known == 0 {
		t.Error("it was never known at once")
	}
}

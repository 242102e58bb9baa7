package claims

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/zktest"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// connect starts a server, and returns the protocol of a process that is connected to it.
func connect(t *testing.T) *Protocol {
	p := connectTo(t, zktest.Start(t))
	t.Cleanup(func() { _ = closing(p) })
	return p
}

func connectTo(t *testing.T, servers []string) *Protocol {
	return New(zktest.Connect(t, servers, nil, zktest.Still), "/locks", zk.WorldACL(zk.PermAll), func(string) {})
}

func closing(p *Protocol) error {
	p.store.Background.End()
	err := p.store.Session.Close(false)
	p.store.Background.Wait()
	return err
}

func want(attempt int) claimlist.Want {
	return claimlist.Want{Key: "a", Token: fmt.Sprintf("%032x", attempt), TTL: time.Second, Floor: 1}
}

// createClaim makes the claim of an attempt, and returns the queue if that was seen with it.
func createClaim(t *testing.T, p *Protocol, attempt int) (*Claim, []string) {
	c := p.NewClaim(want(attempt), func() {})
	names, err := p.create(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, names
}

// TestCloseWhileItIsAsked: a client that is asked while it closes would never end, now and then.
func TestCloseWhileItIsAsked(t *testing.T) {
	servers := zktest.Start(t)
	for range 40 {
		p := connectTo(t, servers)
		ended, asked := make(chan struct{}), make(chan struct{}, 1)
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				for err := error(nil); !errors.Is(err, zk.ErrClosing); _, err = p.zk.Children("/") {
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
		if err := closing(p); err != nil {
			t.Error(err)
		}
		close(ended)
		asking.Wait()
	}
}

// TestAClaimOfAnotherSession: a claim that has waited and finds itself first has the lock only while
// the session lives that made it. The answer may be older than the end of that session, and
// the session that was synced be the next one.
func TestAClaimOfAnotherSession(t *testing.T) {
	p := connect(t)
	claim, _ := createClaim(t, p, 1)
	for _, c := range []struct {
		of      string
		session int64
		want    int
	}{{"its own", p.zk.SessionID(), 1}, {"the one before", p.zk.SessionID() - 1, 0}} {
		claim.mu.Lock()
		claim.session = c.session
		claim.mu.Unlock()
		if names, err := p.probe(claim, time.Second); err != nil || len(names) != c.want {
			t.Errorf("in %s session: %v, %v", c.of, names, err)
		}
	}
}

// TestAClaimOfTheNextSession: a request that waits for a connection may be sent in another session than the one in
// which it was to be. What it makes is removed like any other claim, and not left in front of all others.
func TestAClaimOfTheNextSession(t *testing.T) {
	p := connect(t)
	queue := func() []string {
		t.Helper()
		names, err := p.tree.queue(p.tree.dir("a"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	notedBefore := func(c *Claim) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.session--
	}
	given, _ := createClaim(t, p, 1)
	notedBefore(given)
	p.remove(given.bury())
	if left := queue(); len(left) != 0 {
		t.Errorf("given up, and still there: %v", left)
	}
	kept, _ := createClaim(t, p, 2)
	notedBefore(kept)
	e, err := p.Enter(kept, true)
	if err != nil {
		t.Fatal(err)
	}
	if left := queue(); len(left) != 1 || !e.Granted {
		t.Errorf("in the queue are %v, and the entry is %+v", left, e)
	}
}

// TestWhatMadeAClaim: the node above names the maker of a claim, and so does the queue if nobody else is in it.
func TestWhatMadeAClaim(t *testing.T) {
	p := connect(t)
	const tries = 50
	for attempt := range tries {
		var queue []*Claim
		for at := range 3 {
			c, names := createClaim(t, p, 3*attempt+at)
			queue = append(queue, c)
			if _, stat, err := p.zk.Get(c.path); err != nil || stat.Czxid != c.czxid {
				t.Errorf("attempt %d, claim %d: %+v, %v; want czxid %x", attempt, at, stat, err, c.czxid)
			}
			if names != nil && len(names) != at+1 || names == nil && at == 0 {
				t.Errorf("attempt %d, claim %d: in the queue are %v", attempt, at, names)
			}
		}
		for _, c := range queue {
			p.remove(c.bury())
		}
	}
}

// TestTheBaseIsReadInEachSession: the next one may be on an ensemble that was made anew, where tokens would go back.
func TestTheBaseIsReadInEachSession(t *testing.T) {
	p := connect(t)
	c, _ := createClaim(t, p, 1)
	base := func() uint64 {
		t.Helper()
		fence, err := p.fences.of(c, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return fence - uint64(c.czxid)
	}
	if got := base(); got != 1000 {
		t.Fatalf("the base is %d", got)
	}
	if _, err := p.zk.Set(p.tree.base(), []byte("5000"), -1); err != nil {
		t.Fatal(err)
	}
	p.fences.mu.Lock()
	p.fences.session--
	p.fences.mu.Unlock()
	if got := base(); got != 5000 {
		t.Errorf("the base is %d, which is another session's", got)
	}
}

package zklock

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/zklock/zkproc"
)

// TestAPlaceOfAnotherSession: who queued and finds its place first has the lock only while
// the session lives that made it. The answer may be older than the end of that session, and
// the session that was synced be the next one.
func TestAPlaceOfAnotherSession(t *testing.T) {
	e, err := zkproc.Start(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	}()
	s := defaultSettings()
	l, err := connect(e.Addrs(), 20*time.Second, s)
	if err != nil {
		t.Fatal(err)
	}
	n := newNode("zk", l, s)
	defer n.Close()
	if err := n.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, _ := n.begin(driver.AcquireRequest{Key: "a", Token: "0123456789abcdef0123456789abcdef", TTL: time.Second})
	if err := n.create(p); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of      string
		session int64
		want    int
	}{{"its own", l.SessionID(), 1}, {"the one before", l.SessionID() - 1, 0}} {
		n.mu.Lock()
		p.session = c.session
		n.mu.Unlock()
		if names, err := n.look(p, true); err != nil || len(names) != c.want {
			t.Errorf("in %s session: %v, %v", c.of, names, err)
		}
	}
}

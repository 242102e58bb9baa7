package claims

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/zktest"
)

// outage is a dialer whose connections can be ended.
type outage struct {
	mu   sync.Mutex
	on   bool
	conn net.Conn
}

func (o *outage) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.on {
		return nil, net.ErrClosed
	}
	var err error
	o.conn, err = net.DialTimeout(network, address, timeout)
	return o.conn, err
}

func (o *outage) set(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.on = on; on {
		_ = o.conn.Close()
	}
}

// TestReleaseDuringAnOutage: the engine asks again for a while only. The claim must not stay after that: its session
// lives as long as this process.
func TestReleaseDuringAnOutage(t *testing.T) {
	var o outage
	s := zktest.Connect(t, zktest.Start(t), o.dial, zktest.Still)
	p := New(s, "/locks", zk.WorldACL(zk.PermAll), func(string) {})
	t.Cleanup(func() { _ = closing(p) })
	c := granted(t, p)
	forgotten := 0
	c.expired = func() { forgotten++ }
	session := p.zk.SessionID()
	o.set(true)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if found, _, err := p.Release(ctx, c); err == nil {
			t.Errorf("released during the outage: %v", found)
		}
		cancel()
	}
	o.set(false)
	if err := s.Session.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Background.Wait()
	names, err := p.tree.queue(c.dir)
	if err != nil || len(names) != 0 || forgotten != 1 || p.zk.SessionID() != session {
		t.Errorf("in the queue are %v, %v; forgotten %d times; session %x, before %x",
			names, err, forgotten, p.zk.SessionID(), session)
	}
}

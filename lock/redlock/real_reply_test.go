package redlock_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// mute is a connection that loses the next reply, and breaks, on command.
type mute struct {
	net.Conn
	next *atomic.Bool
}

func (c mute) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.next.CompareAndSwap(true, false) {
		_ = c.Close()
		return 0, io.EOF
	}
	return n, err
}

// TestRealReleaseWhoseReplyIsLost: the release takes effect, and the connection breaks before the reply arrives. The
// repeated release must know that. Otherwise its reply would say that there was no lock to release.
func TestRealReleaseWhoseReplyIsLost(t *testing.T) {
	t.Parallel()
	f, rec := startNodes(t, 1), newRecorder()
	var next atomic.Bool
	l := newLocker(t, []redis.UniversalClient{plainClient(t, &redis.Options{
		Addr: f.servers[0].Addr(),
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return mute{conn, &next}, err
		},
	})}, lock.WithNodeTimeout(patience))
	f.warm(l)
	lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL), lock.NoRenew())
	must(t, err)
	next.Store(true)
	must(t, lease.Release(t.Context()))
	failed := func(e locktrace.NodeEnd) bool { return e.Op == lock.OpRelease && e.Err != nil }
	awaitEvents(t, rec, settleTime, 1, "a release without a reply", failed)
	f.wantNoLocks()
}

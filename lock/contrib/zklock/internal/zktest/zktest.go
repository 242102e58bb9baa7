// Package zktest starts a server for the tests of the packages beside it, and connects to it.
package zktest

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/engine"
)

// Session is the timeout of sessions.
const Session = 25 * time.Second

// patience is for a server on a busy machine: a session waits longer after each try.
const patience = time.Minute

// Start starts a server, and returns its address.
func Start(t *testing.T) []string {
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
	return e.Addrs()
}

// Connect connects to a server. The test closes what it makes of the store, or the store itself.
func Connect(t *testing.T, servers []string, dial zk.Dialer, clock func() time.Duration) *store.Store {
	s, err := store.New(servers, Session, engine.MaxNodeTimeout, store.Options{Dial: dial}, clock)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Session.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// Still is a clock that stands still.
func Still() time.Duration { return 0 }

// Requests counts those of a kind that go to a server.
type Requests struct {
	Kind  uint32
	Count atomic.Int64
}

// Syncs is the kind of a sync.
const Syncs = 9

type counted struct {
	net.Conn
	*Requests
}

// Dial is a zk.Dialer.
func (r *Requests) Dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	return counted{conn, r}, err
}

// Write is called with one request at a time: length, number, kind, four bytes each.
func (c counted) Write(b []byte) (int, error) {
	if len(b) >= 12 && binary.BigEndian.Uint32(b[8:]) == c.Kind {
		c.Count.Add(1)
	}
	return c.Conn.Write(b)
}

//go:build unix

package lanes

import (
	"net"
	"testing"
	"time"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// awaitStale waits until a connection shows what its other end has done.
func awaitStale(t *testing.T, conn net.Conn, what string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !isStale(conn) {
		if time.Now().After(deadline) {
			t.Fatalf("taken for good although the other end has %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAnIdleConnectionIsNotStale: the deadline of its last command has passed.
func TestAnIdleConnectionIsNotStale(t *testing.T) {
	client, server := pair(t)
	if err := client.SetDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if isStale(client) {
		t.Error("a connection is given up for having been idle longer than a command may take")
	}
	server.Close()
	awaitStale(t, client, "closed it")
}

func TestStaleConnections(t *testing.T) {
	client, server := pair(t)
	if _, err := server.Write([]byte("unasked")); err != nil {
		t.Fatal(err)
	}
	awaitStale(t, client, "said something unasked")
	client.Close()
	if !isStale(client) {
		t.Error("a closed connection is taken for good")
	}
}

package netfault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// soon is enough for a loopback round trip on a busy machine, and short enough for waiting until it has passed.
const soon = 500 * time.Millisecond

// setup starts a server and a proxy in front of it, and returns a client of each.
func setup(t *testing.T) (proxy *netfault.Proxy, server *redisproc.Server, via, direct *redis.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := redisproc.Start(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop()) })
	proxy, err = netfault.Listen(server.Addr())
	must(t, err)
	t.Cleanup(func() { must(t, proxy.Close()) })
	return proxy, server, client(t, proxy.Addr()), client(t, server.Addr())
}

// client does not retry and sends nothing on its own, so that the test sees only what the proxy does.
func client(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, DisableIdentity: true,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { c.Close() }) // some tests close it earlier
	return c
}

func TestForwards(t *testing.T) {
	_, _, via, direct := setup(t)
	big := string(make([]byte, 1<<20)) // more than one read, in both directions
	must(t, via.Set(t.Context(), "key", big, 0).Err())
	for _, c := range []*redis.Client{via, direct} {
		if got, err := c.Get(t.Context(), "key").Result(); err != nil || got != big {
			t.Errorf("GET returned %d bytes, %v; want %d", len(got), err, len(big))
		}
	}
}

func TestDelay(t *testing.T) {
	proxy, _, via, _ := setup(t)
	must(t, via.Ping(t.Context()).Err()) // connected
	const delay = 40 * time.Millisecond
	proxy.SetDelay(delay)
	start := time.Now()
	for range 3 {
		must(t, via.Ping(t.Context()).Err())
	}
	if took := time.Since(start); took < 3*2*delay {
		t.Errorf("3 round trips took %v, want at least %v", took, 3*2*delay)
	}
	proxy.SetDelay(0)
	fastest := time.Hour
	for range 100 { // on a busy machine most of them may be late
		start = time.Now()
		must(t, via.Ping(t.Context()).Err())
		if fastest = min(fastest, time.Since(start)); fastest < 2*delay {
			return
		}
	}
	t.Errorf("without the delay the fastest round trip took %v", fastest)
}

// TestDelayIsLatencyNotRate has many pieces under way at once: each is late by the same time, not by the sum.
func TestDelayIsLatencyNotRate(t *testing.T) {
	proxy, _, _, direct := setup(t)
	conn, err := net.Dial("tcp", proxy.Addr())
	must(t, err)
	defer conn.Close()
	const delay, n = 500 * time.Millisecond, 20
	proxy.SetDelay(delay)
	start, want := time.Now(), ""
	for i := range n {
		before := proxy.Held()
		fmt.Fprintf(conn, "APPEND key %d,\r\n", i)
		want += fmt.Sprint(i, ",")
		eventually(t, "the piece has arrived by itself", func() bool { return proxy.Held() != before })
	}
	eventually(t, "all pieces are delivered in order",
		func() bool { return direct.Get(t.Context(), "key").Val() == want })
	if took := time.Since(start); took < delay || took > n*delay {
		t.Errorf("%d pieces took %v, want at least %v and less than %v", n, took, delay, n*delay)
	}
}

func TestDropToServer(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.DropToServer(true)
	wantTimeout(t, via.Set(within(t, soon), "key", "value", 0).Err())
	proxy.DropToServer(false)
	if err := direct.Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("the dropped command reached the server: %v", err)
	}
	must(t, via.Set(t.Context(), "key", "value", 0).Err()) // on a new connection
}

func TestDropToClient(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.DropToClient(true)
	wantTimeout(t, via.Set(within(t, soon), "key", "value", 0).Err())
	wantValue(t, direct, "key", "value") // executed nevertheless
	proxy.DropToClient(false)
	wantValue(t, via, "key", "value")
}

func TestDropBothWays(t *testing.T) {
	proxy, _, via, _ := setup(t)
	proxy.Drop(true)
	wantTimeout(t, via.Ping(within(t, soon)).Err()) // also on a new connection
	proxy.Drop(false)
	proxy.CutAll()
	must(t, via.Ping(t.Context()).Err())
}

func TestRefuse(t *testing.T) {
	proxy, _, via, _ := setup(t)
	existing := via.Conn()
	defer existing.Close()
	must(t, existing.Ping(t.Context()).Err())

	proxy.Refuse(true)
	var timeout net.Error
	if err := via.Ping(t.Context()).Err(); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("PING on a new connection says %v, want that it was refused", err)
	}
	must(t, existing.Ping(t.Context()).Err())
	proxy.Refuse(false)
	must(t, via.Ping(t.Context()).Err())
}

func TestLimit(t *testing.T) {
	proxy, _, via, direct := setup(t)
	proxy.Limit(1)
	first := via.Conn()
	defer first.Close()
	must(t, first.Ping(t.Context()).Err())
	var timeout net.Error
	second := via.Conn()
	defer second.Close()
	if err := second.Ping(t.Context()).Err(); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("PING on a second connection says %v, want that it was refused", err)
	}
	must(t, first.Ping(t.Context()).Err())
	proxy.CutAll()
	eventually(t, "the server has seen the end", func() bool { return connections(t, direct) == 1 })
	third := via.Conn()
	defer third.Close()
	must(t, third.Ping(t.Context()).Err())
}

func TestCutAll(t *testing.T) {
	proxy, _, via, direct := setup(t)
	conn := via.Conn()
	defer conn.Close()
	must(t, conn.Ping(t.Context()).Err())
	proxy.CutAll()
	if err := conn.Ping(t.Context()).Err(); err == nil {
		t.Error("PING on a cut connection succeeded")
	}
	eventually(t, "the server has seen the end", func() bool { return connections(t, direct) == 1 })
	must(t, via.Ping(t.Context()).Err())
}

func TestHoldAndFlow(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.Hold()
	proxy.Hold() // a second call changes nothing
	reply := make(chan error, 1)
	go func() { reply <- via.Set(t.Context(), "key", "value", 0).Err() }()
	eventually(t, "the command is in the proxy", func() bool { return proxy.Held() > 0 })
	if err := direct.Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("a held command reached the server: %v", err)
	}
	proxy.Flow()
	proxy.Flow()
	must(t, <-reply)
	wantValue(t, direct, "key", "value")
	// The reply can arrive before the proxy has recorded that the command left.
	eventually(t, "nothing is held any more", func() bool { return proxy.Held() == 0 })
}

// TestLateCommand shows what the package is for: a command takes effect after its client has timed out and left, and
// another one has taken over.
func TestLateCommand(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.Hold()
	wantTimeout(t, via.Append(within(t, soon), "key", " late").Err())
	must(t, via.Close())
	must(t, direct.Append(t.Context(), "key", "in time").Err())
	if proxy.Held() == 0 {
		t.Error("the command of the client that has gone is no longer held")
	}
	proxy.Flow()
	eventually(t, "the late command has taken effect", func() bool {
		return direct.Get(t.Context(), "key").Val() == "in time late"
	})
	eventually(t, "the late connection is closed", func() bool { return connections(t, direct) == 1 })
}

// TestLateCommandToPausedServer is the same with a paused server: it finds the command when it resumes.
func TestLateCommandToPausedServer(t *testing.T) {
	_, server, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	must(t, server.Pause())
	wantTimeout(t, via.Set(within(t, soon), "key", "late", 0).Err())
	must(t, via.Close())
	must(t, server.Resume())
	eventually(t, "the late command has taken effect", func() bool {
		return direct.Get(t.Context(), "key").Val() == "late"
	})
}

func TestCutLosesWhatIsHeld(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.Hold()
	wantTimeout(t, via.Set(within(t, soon), "key", "value", 0).Err())
	proxy.CutAll()
	proxy.Flow()
	if n := proxy.Held(); n != 0 {
		t.Errorf("%d bytes are held after CutAll", n)
	}
	eventually(t, "the server has seen the end", func() bool { return connections(t, direct) == 1 })
	if err := direct.Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("a command that was cut off reached the server: %v", err)
	}
}

func TestServerGone(t *testing.T) {
	proxy, server, _, _ := setup(t)
	conn, err := net.Dial("tcp", proxy.Addr())
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	fmt.Fprint(conn, "PING\r\n")
	_, err = io.ReadFull(conn, make([]byte, len("+PONG\r\n")))
	must(t, err)

	proxy.Hold() // must not keep the connection alive
	fmt.Fprint(conn, "PING\r\n")
	eventually(t, "the command is in the proxy", func() bool { return proxy.Held() > 0 })
	must(t, server.Kill())
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes from a server that is gone", n)
	}
	eventually(t, "nothing is held for a server that is gone", func() bool { return proxy.Held() == 0 })
	if err := client(t, proxy.Addr()).Ping(within(t, time.Minute)).Err(); err == nil || isTimeout(err) {
		t.Errorf("PING on a new connection to a server that is gone: %v, want it closed at once", err)
	}
}

// TestCloseWaits closes with much unfinished: the server does not answer, and half of the clients' bytes are held and
// half delayed.
func TestCloseWaits(t *testing.T) {
	proxy, server, _, _ := setup(t)
	must(t, server.Pause())
	proxy.Hold()
	const n, ping = 60, "PING\r\n"
	for i := range n {
		if i == n/2 {
			eventually(t, "the first half is in the proxy", func() bool { return proxy.Held() == n/2*len(ping) })
			proxy.SetDelay(time.Hour)
		}
		conn, err := net.Dial("tcp", proxy.Addr())
		must(t, err)
		defer conn.Close()
		fmt.Fprint(conn, ping)
	}
	eventually(t, "all is in the proxy", func() bool { return proxy.Held() == n*len(ping) })
	must(t, proxy.Close())
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if bytes.Contains(stacks, []byte("netfault.(*")) {
		t.Errorf("still running after Close:\n%s", stacks)
	}
	must(t, proxy.Close())
	if _, err := net.Dial("tcp", proxy.Addr()); err == nil {
		t.Error("a closed proxy accepts connections")
	}
}

func TestListenNeedsNoTarget(t *testing.T) {
	proxy, err := netfault.Listen("127.0.0.1:1")
	must(t, err)
	defer proxy.Close()
	if err := client(t, proxy.Addr()).Ping(t.Context()).Err(); err == nil {
		t.Error("PING without a server succeeded")
	}
}

package redlock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
)

// otherServer stands in front of a redis-server and changes what it says of itself in INFO, as servers do that are not
// Redis.
type otherServer struct {
	addr    string
	changes map[*regexp.Regexp]string // of INFO
	conns   sync.WaitGroup
}

var (
	noRunID  = map[*regexp.Regexp]string{regexp.MustCompile(`(?m)^run_id:.*\r\n`): ""}
	noPolicy = map[*regexp.Regexp]string{regexp.MustCompile(`(?m)^maxmemory_policy:.*\r\n`): ""}
	newer    = map[*regexp.Regexp]string{
		regexp.MustCompile(`(?m)^maxmemory:.*\r`):        "maxmemory:104857600\r",
		regexp.MustCompile(`(?m)^maxmemory_policy:.*\r`): "maxmemory_policy:allkeys-lrm\r",
	}
	replicas = map[*regexp.Regexp]string{regexp.MustCompile(`(?m)^role:master`): "role:replica"}
)

// pretend returns the address of a server that answers as changed by changes.
func pretend(t testing.TB, s *redisproc.Server, changes map[*regexp.Regexp]string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	o := &otherServer{addr: s.Addr(), changes: changes}
	o.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			o.conns.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() { must(t, l.Close()); o.conns.Wait() })
	return l.Addr().String()
}

func (o *otherServer) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", o.addr)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	o.conns.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	o.replies(client, bufio.NewReader(server))
}

// replies passes replies on. A reply is lines, of which those of a bulk string are followed by so many bytes.
func (o *otherServer) replies(to io.Writer, from *bufio.Reader) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		if n, err := strconv.Atoi(strings.TrimSpace(line[1:])); err == nil && n >= 0 && (line[0] == '$' || line[0] == '=') {
			text := make([]byte, n+2)
			if _, err := io.ReadFull(from, text); err != nil {
				return
			}
			said := string(text[:n])
			if strings.Contains(said, "# Server\r\n") { // RESP3 says txt: before it
				for what, with := range o.changes {
					said = what.ReplaceAllString(said, with)
				}
			}
			line = fmt.Sprintf("%c%d\r\n%s\r\n", line[0], len(said), said)
		}
		if _, err := io.WriteString(to, line); err != nil {
			return
		}
	}
}

// pretending returns clients of the nodes, each of which answers as changed.
func (f *realNodes) pretending(changes map[*regexp.Regexp]string) (clients []redis.UniversalClient) {
	f.t.Helper()
	for _, s := range f.servers {
		clients = append(clients, plainClient(f.t, &redis.Options{Addr: pretend(f.t, s, changes)}))
	}
	return clients
}

// TestRealServersWithoutRunID are refused, and with WithMarkerIdentity told by their markers.
func TestRealServersWithoutRunID(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3, appendOnly())
	clients := f.pretending(noRunID)
	err := refusal(t, redlockOf(t, clients, f.named()), driver.ErrUnexamined)
	wantText(t, err, "INFO has no run_id", "WithMarkerIdentity")

	for _, c := range f.admin { // on a busy machine a call that was given up has left a tombstone
		must(t, c.FlushAll(t.Context()).Err())
		must(t, c.ConfigResetStat(t.Context()).Err())
	}
	const quarantine = 12 * time.Second // three lockers find the node silent before it is over
	options := []lock.Option{f.named(), redlock.WithMarkerIdentity(), redlock.WithRestartQuarantine(quarantine)}
	must(t, redlock.Vouch(t.Context(), clients, options[:2]...))
	one, other := redlockOf(t, clients, options...), redlockOf(t, clients, options...)
	lease := acquire(t, one, "job", lock.TTL(longTTL))
	refusal(t, other, lock.ErrHeld)
	must(t, lease.Release(t.Context()))

	// A server that restarts with all its data goes on: its marker is part of them.
	f.kill(0)
	f.restart(0)
	f.pause(1)
	eventually(t, 4*settleTime, "a server that kept its data votes", func() bool { return gets(t, one) })
	f.resume(1)

	// One that has lost them is silent for a while, for processes that knew it and for others.
	must(t, f.admin[2].FlushAll(t.Context()).Err())
	f.pause(1)
	for _, l := range []*engine.Engine{one, other, redlockOf(t, clients, options...)} {
		refusal(t, l, driver.ErrQuarantined)
	}
	eventually(t, 4*settleTime, "it votes after its quarantine", func() bool { return gets(t, one) && gets(t, other) })
	f.resume(1)
}

// TestRealNewServersWithoutRunID: processes that meet new servers at the same time agree on the identity of each.
func TestRealNewServersWithoutRunID(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	clients := f.pretending(noRunID)
	var processes []*engine.Engine
	for range 4 {
		processes = append(processes, redlockOf(t, clients, f.named(), redlock.WithMarkerIdentity(),
			redlock.WithRestartQuarantine(time.Second)))
	}
	var all sync.WaitGroup
	for _, l := range processes {
		all.Go(func() { eventually(t, 4*settleTime, "it gets the lock", func() bool { return gets(t, l) }) })
	}
	all.Wait()
	for i := range f.servers {
		marker, err := f.admin[i].Get(t.Context(), "lockscope:life").Result()
		must(t, err)
		if fields := strings.Split(marker, "|"); fields[0] != "voting" && fields[0] != "quarantine" || !strings.HasPrefix(fields[2], "mark-") {
			t.Errorf("node %d has %q", i+1, marker)
		}
	}
}

// TestRealOneServerTwiceWithoutRunID is refused, as soon as the server has a marker.
func TestRealOneServerTwiceWithoutRunID(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 2)
	clients := f.pretending(noRunID)
	clients = append(clients, plainClient(t, &redis.Options{Addr: pretend(t, f.servers[0], noRunID)}))
	l := redlockOf(t, clients, redlock.WithMarkerIdentity(), redlock.WithRestartQuarantine(time.Second))
	var refused atomic.Bool
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
		if errors.Is(e.Err, driver.ErrDuplicate) {
			refused.Store(true)
		}
	}})
	eventually(t, 4*settleTime, "the second name is refused", func() bool {
		if lease, err := l.Acquire(ctx, "job", lock.NoWait()); err == nil {
			must(t, lease.Release(t.Context()))
		}
		return refused.Load()
	})
}

// TestRealServersThatDoNotSayTheirPolicy are refused, unless the caller states that they evict nothing. That does not
// help a server whose policy this version does not know.
func TestRealServersThatDoNotSayTheirPolicy(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	err := refusal(t, redlockOf(t, f.pretending(noPolicy)), driver.ErrUnexamined)
	wantText(t, err, "WithoutEviction", "WithEvictingNodes")
	stated := redlockOf(t, f.pretending(noPolicy), redlock.WithoutEviction())
	eventually(t, settleTime, "a node votes that evicts nothing, as the caller states", func() bool { return gets(t, stated) })
	err = refusal(t, redlockOf(t, f.pretending(newer), redlock.WithoutEviction()), driver.ErrEvicting)
	wantText(t, err, "allkeys-lrm", "noeviction")
	must(t, f.admin[0].ConfigSet(t.Context(), "maxmemory", "100mb").Err())
	must(t, f.admin[0].ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	refusal(t, redlockOf(t, f.clients(), redlock.WithoutEviction()), driver.ErrEvicting)
	refusal(t, redlockOf(t, f.pretending(replicas)), driver.ErrReplica)
}

// refusal is why the lock is refused, which must match want: on a busy machine a node may first not answer in time.
func refusal(t *testing.T, l lock.Locker, want error) (err error) {
	t.Helper()
	eventually(t, settleTime, fmt.Sprint("the lock is refused: ", want), func() bool {
		var lease lock.Lease
		if lease, err = l.Acquire(t.Context(), "job", lock.NoWait()); err == nil {
			must(t, lease.Release(t.Context()))
			t.Fatal("the lock is granted")
		}
		return errors.Is(err, want)
	})
	return err
}

func redlockOf(t testing.TB, clients []redis.UniversalClient, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := redlock.New(clients, append([]lock.Option{lock.WithNodeTimeout(time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// gets reports whether the lock can be acquired now.
func gets(t *testing.T, l lock.Locker) bool {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
	if err == nil {
		must(t, lease.Release(t.Context()))
	}
	return err == nil
}

package diagnosis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// Node is a server to ask.
type Node struct {
	Name    string
	Address string
	Client  *redis.Client
}

// Masters are those of a cluster.
func Masters(ctx context.Context, c *redis.ClusterClient) ([]Node, error) {
	var mu sync.Mutex
	var masters []Node
	err := c.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, Node{Name: m.Options().Addr, Address: m.Options().Addr, Client: m})
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the cluster has no masters")
	}
	return masters, err
}

// Gather asks all nodes at once, for p.For plus a moment. What goes wrong with a
// node, also the end of ctx, is in its facts.
func Gather(ctx context.Context, nodes []Node, p Policy) []Facts {
	facts := make([]Facts, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { facts[i] = ask(ctx, n, p) })
	}
	asking.Wait()
	return facts
}

func ask(ctx context.Context, n Node, p Policy) Facts {
	f := Facts{Node: n.Name, Address: n.Address}
	reach, cancel := context.WithTimeout(ctx, ReachTimeout)
	defer cancel()
	text, err := n.Client.Info(reach).Result()
	if isRefusal(err) {
		f.NoInfo, err = err, nil
	}
	if err != nil {
		f.Err = fmt.Errorf("INFO: %w", explained(reach, n.Address, err))
		return f
	}
	f.Server = ParseInfo(text)
	f.Hosts = resolve(reach, n.Address)
	config, err := n.Client.ConfigGet(reach, "appendfsync").Result()
	f.Fsync = config["appendfsync"]
	if isRefusal(err) {
		f.NoConfig = err
	}
	// A user who may not run scripts lacks a right, which is another check's.
	if err := n.Client.Eval(reach, "return 1", nil).Err(); isRefusal(err) && !strings.HasPrefix(err.Error(), "NOPERM") {
		f.NoScripts = err
	}
	if p.Single != "cluster" { // whose keys are elsewhere, and whose nodes nobody vouches for
		f.Marked, f.Unread = markerText(reach, n.Client)
		f.Marker = stored.ReadMarker(f.Marked, incarnation(f.Server, p), n.Client.Options().DB)
	}
	f.observe(ctx, n.Client, p)
	writes, cancelWrites := context.WithTimeout(ctx, ReachTimeout)
	defer cancelWrites()
	f.Refuses = writeRefusal(writes, n.Client, p, text)
	rights, cancelRights := context.WithTimeout(ctx, ReachTimeout)
	defer cancelRights()
	f.Missing, f.Unasked = missingRights(rights, n.Client, p)
	return f
}

// isRefusal reports whether the server does not permit the command, or does not have it.
func isRefusal(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !redisconn.IsStranger(err) && (strings.HasPrefix(err.Error(), "NOPERM") || strings.HasPrefix(err.Error(), "ERR"))
}

// resolve finds the IP addresses behind host:port; the host itself if there are none.
func resolve(ctx context.Context, address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return []string{host}
	}
	slices.Sort(found)
	return found
}

// observe samples clock and latency at the same time: a server that stops delays a call of each series.
func (f *Facts) observe(ctx context.Context, c *redis.Client, p Policy) {
	var sampling sync.WaitGroup
	sampling.Go(func() {
		f.Clock, _ = sampleClock(ctx, p, func(ctx context.Context) (time.Time, error) { return c.Time(ctx).Result() })
	})
	sampling.Go(func() {
		f.Ping = sampleLatency(ctx, p, func(ctx context.Context) error { return c.Ping(ctx).Err() })
	})
	sampling.Go(func() {
		f.Script = sampleLatency(ctx, p, func(ctx context.Context) error { return c.Eval(ctx, "return 1", nil).Err() })
	})
	sampling.Wait()
}

// greetingTimeout is how long a server that hangs up is listened to.
const greetingTimeout = time.Second

// explained adds the greeting of a server that hangs up at once, such as one without a free connection. A client that
// writes first may not get to read it.
func explained(ctx context.Context, address string, err error) error {
	hungUp := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)
	if address == "" || !hungUp {
		return err
	}
	conn, dialErr := (&net.Dialer{Timeout: greetingTimeout}).DialContext(ctx, "tcp", address)
	if dialErr != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(greetingTimeout))
	line, _ := bufio.NewReader(io.LimitReader(conn, 256)).ReadString('\n')
	if said, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
		return fmt.Errorf("%s: %w", said, err)
	}
	return err
}

// ParseInfo reads the reply of INFO; unknown lines are ignored.
func ParseInfo(text string) Server {
	info := redisinfo.Parse(text)
	s := Server{
		RunID: info.RunID(), Incarnation: info.Incarnation(), Version: info["redis_version"], Mode: info["redis_mode"],
		Role:     info.Role(),
		Replicas: int(info.Number("connected_slaves")), Uptime: info.Uptime(),
		Policy: info["maxmemory_policy"], MaxMemory: info.Number("maxmemory"), UsedMemory: info.Number("used_memory"),
		EvictedKeys: info.EvictedKeys(), Eviction: info.Eviction(),
		AOF: info["aof_enabled"] == "1", AOFError: info["aof_last_write_status"] == "err",
		Loading: info["loading"] == "1", NoSections: missingSections(text),
	}
	_, s.CountsEvicted = info["evicted_keys"]
	if v := info["valkey_version"]; v != "" {
		s.Version += " (Valkey " + v + ")"
	}
	return s
}

// missingSections are those that a reply without one has not. An empty reply has none to miss.
func missingSections(text string) (missing []string) {
	if text == "" {
		return nil
	}
	for _, name := range []string{"Server", "Memory", "Persistence", "Stats", "Replication"} {
		if !strings.Contains(text, "# "+name) {
			missing = append(missing, name)
		}
	}
	return missing
}

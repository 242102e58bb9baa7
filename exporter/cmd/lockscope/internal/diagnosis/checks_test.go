package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

func testPolicy() Policy {
	return Policy{
		TTL: lock.DefaultTTL, MaxTTL: lock.DefaultMaxTTL, NodeTimeout: engine.MinNodeTimeout,
		Prefix: lock.DefaultPrefix, For: time.Second, nodes: 3, now: time.UnixMilli(21_000),
	}
}

// sound is a node with nothing wrong.
func sound(i int) Facts {
	return Facts{
		Node: fmt.Sprintf("n%d:6379", i), Address: fmt.Sprintf("n%d:6379", i),
		Hosts: []string{fmt.Sprintf("10.0.0.%d", i)},
		Server: Server{
			RunID: fmt.Sprintf("id%d", i), Incarnation: fmt.Sprintf("id%d", i), Version: "7.0.15", Mode: "standalone",
			Role:   "master",
			Uptime: time.Hour, Policy: "noeviction", Eviction: redisinfo.EvictionOff, AOF: true, CountsEvicted: true,
		},
		Fsync:  "always",
		Marker: markerFor(i, "voting", ""),
		Clock: Clock{Samples: 100, Offset: time.Millisecond, OffsetError: 100 * time.Microsecond, Drift: 5e-6,
			DriftError: 50e-6},
		Ping:   Latency{Count: 100, Answered: 100, P50: 200 * time.Microsecond, P99: time.Millisecond},
		Script: Latency{Count: 100, Answered: 100, P50: 250 * time.Microsecond, P99: time.Millisecond},
	}
}

// markerFor returns the marker of the i-th sound node for the configuration of all three.
func markerFor(i int, state, rest string) stored.Marker {
	f := guard.NewFingerprint([]string{"n1:6379", "n2:6379", "n3:6379"}, lock.DefaultMaxTTL)
	return stored.ReadMarker(fmt.Sprintf("%s|%s|id%d|0%s", state, string(f), i, rest), fmt.Sprintf("id%d", i), 0)
}

func TestSoundNodesPass(t *testing.T) {
	results := Examine([]Facts{sound(1), sound(2), sound(3)}, testPolicy())
	for _, r := range results {
		if r.Status != inspect.Pass || r.Advice != "" {
			t.Errorf("%+v", r)
		}
	}
	if len(results) < 30 {
		t.Errorf("only %d results", len(results))
	}
}

// TestLoading: a server that loads its data refuses most commands. None of that is a matter of rights.
func TestLoading(t *testing.T) {
	loading := errors.New("LOADING Redis is loading the dataset in memory")
	f := Facts{Server: Server{Loading: true}, Ping: Latency{Err: loading}, Script: Latency{Err: loading}, Unread: loading}
	for _, check := range []func(Facts, Policy) inspect.Result{checkLatency, checkScripts, checkMarker} {
		if r := check(f, testPolicy()); !strings.Contains(r.Advice, "wait until") {
			t.Errorf("%+v", r)
		}
	}
	if advice := ui.ConnectionAdvice(loading); !strings.Contains(advice, "wait until") {
		t.Error(advice)
	}
}

// TestOneThingWrong spoils one fact of three sound nodes at a time.
func TestOneThingWrong(t *testing.T) {
	for _, c := range []struct {
		name, check string
		spoil       func(f *Facts, p *Policy)
		status      inspect.Status
		says        string
	}{
		{"unreachable", "connection", func(f *Facts, _ *Policy) {
			f.Err = errors.New("connection refused")
		}, inspect.Fail, "refused"},
		{"wrong password", "connection", func(f *Facts, _ *Policy) {
			f.Err = errors.New("WRONGPASS invalid username-password pair")
		}, inspect.Fail, "--redis-password-file"},
		{"no password", "connection", func(f *Facts, _ *Policy) {
			f.Err = errors.New("NOAUTH Authentication required.")
		}, inspect.Fail, "LOCKSCOPE_REDIS_PASSWORD"},
		{"no INFO", "connection", func(f *Facts, _ *Policy) { f.Err = errors.New("NOPERM ... 'info'") }, inspect.Fail, "+info"},
		{"unknown authority", "connection", func(f *Facts, _ *Policy) {
			f.Err = errors.New("tls: failed to verify certificate: x509: unknown")
		}, inspect.Fail, "--tls-ca"},
		{"not TLS", "connection", func(f *Facts, _ *Policy) {
			f.Err = errors.New("tls: first record does not look like a TLS handshake")
		}, inspect.Fail, "rediss://"},
		{"hung", "connection", func(f *Facts, _ *Policy) {
			f.Err = fmt.Errorf("INFO: %w", context.DeadlineExceeded)
		}, inspect.Fail, "hangs"},
		{"closes", "connection", func(f *Facts, _ *Policy) { f.Err = fmt.Errorf("INFO: %w", io.EOF) }, inspect.Fail,
			"TLS port"},
		{"same address", "addresses", func(f *Facts, _ *Policy) { f.Address = "n2:6379" }, inspect.Fail,
			"vote would count twice"},
		{"same server", "run_id", func(f *Facts, _ *Policy) { f.Server.RunID = "id2" }, inspect.Fail, "n1:6379 and n2:6379"},
		{"same machine", "machines", func(f *Facts, _ *Policy) { f.Hosts = []string{"10.0.0.2"} }, inspect.Warn, "10.0.0.2"},
		{"Sentinel", "version", func(f *Facts, _ *Policy) { f.Server.Mode = "sentinel" }, inspect.Fail, "--sentinel-master"},
		{"loading", "version", func(f *Facts, _ *Policy) { f.Server.Loading = true }, inspect.Fail, "loading"},
		{"cluster member", "version", func(f *Facts, _ *Policy) { f.Server.Mode = "cluster" }, inspect.Warn, "--cluster"},
		{"ancient", "version", func(f *Facts, _ *Policy) { f.Server.Version = "4.0.14" }, inspect.Fail, "Redis 5"},
		{"old", "version", func(f *Facts, _ *Policy) { f.Server.Version = "6.0.16" }, inspect.Warn, "upgrade"},
		{"no version", "version", func(f *Facts, _ *Policy) { f.Server.Version = "unstable" }, inspect.Warn,
			"unknown version unstable"},
		{"replica", "role", func(f *Facts, _ *Policy) { f.Server.Role = "slave" }, inspect.Fail, "master"},
		{"has replicas", "role", func(f *Facts, _ *Policy) { f.Server.Replicas = 2 }, inspect.Warn, "2 replicas"},
		{"evicts", "eviction", func(f *Facts, _ *Policy) {
			f.Server.Policy, f.Server.MaxMemory, f.Server.Eviction = "allkeys-lru", 100<<20, redisinfo.EvictionOn
		}, inspect.Fail, "100.0 MiB"},
		{"would evict", "eviction", func(f *Facts, _ *Policy) { f.Server.Policy = "volatile-ttl" }, inspect.Warn, "unlimited"},
		{"nearly full", "eviction", func(f *Facts, _ *Policy) {
			f.Server.MaxMemory, f.Server.UsedMemory = 100, 95
		}, inspect.Warn, "free some memory"},
		{"policy unknown", "guard", func(f *Facts, _ *Policy) {
			f.Server.Eviction = redisinfo.EvictionUnknown
		}, inspect.Fail, "WithoutEviction"},
		{"has evicted", "evicted", func(f *Facts, _ *Policy) {
			f.Server.EvictedKeys, f.Marker = 7, markerFor(1, "quarantine", "|nonce.1|60602|1000|1000")
		}, inspect.Warn, "7 keys"},
		{"AOF fails", "persistence", func(f *Facts, _ *Policy) { f.Server.AOFError = true }, inspect.Fail, "disk is full"},
		{"fsync unknown", "persistence", func(f *Facts, _ *Policy) { f.Fsync = "" }, inspect.Warn, "+config|get"},
		{"everysec", "persistence", func(f *Facts, _ *Policy) { f.Fsync = "everysec" }, inspect.Warn, "wait 1m01s"},
		{"no AOF", "persistence", func(f *Facts, _ *Policy) { f.Server.AOF = false }, inspect.Warn, "wait 1m01s"},
		{"no marker", "marker", func(f *Facts, _ *Policy) {
			f.Marker = stored.Marker{}
		}, inspect.Warn, "nobody vouched for the node: it does not vote for 1m01s"},
		{"silent", "marker", func(f *Facts, _ *Policy) {
			f.Marker = markerFor(1, "quarantine", "|nonce.1|60602|1000|1000")
		}, inspect.Warn, "quarantine nonce.1 of process id1: it does not vote for another 41s"},
		{"not counted yet", "marker", func(f *Facts, _ *Policy) {
			f.Marker = markerFor(1, "quarantine", "|nonce.1|60602|0|0")
		}, inspect.Warn, "another 1m01s"},
		{"restarted", "marker", func(f *Facts, _ *Policy) {
			f.Marker = stored.ReadMarker("voting|3:60000:abc|before|0", "id1", 0)
		}, inspect.Warn, "from before a restart"},
		{"in mid-change", "marker", func(f *Facts, _ *Policy) {
			f.Marker = markerFor(1, "changing", "|nonce.1|60602|0|0|f0")
		}, inspect.Fail, "not finished"},
		{"left", "marker", func(f *Facts, _ *Policy) {
			f.Marked = "changing|4:60000:abc|before|0|left-change-1|60602|0|0|3:60000:ab"
			f.Marker = stored.ReadMarker(f.Marked, "id1", 0)
		}, inspect.Fail, "it left its set by a change to 4 nodes, max TTL 1m0s"},
		{"another's", "marker", func(f *Facts, p *Policy) {
			f.Marker = stored.ReadMarker("voting|5:60000:abc|id1|0", "id1", 0)
		}, inspect.Fail, "5 nodes, max TTL 1m0s"},
		{"marker unread", "marker", func(f *Facts, _ *Policy) {
			f.Unread = errors.New("NOPERM get")
		}, inspect.Warn, "unreadable: NOPERM get"},
		{"no run_id", "guard", func(f *Facts, _ *Policy) { f.Server.RunID = "" }, inspect.Fail, "WithMarkerIdentity"},
		{"no role", "guard", func(f *Facts, _ *Policy) { f.Server.Role = "" }, inspect.Fail, "WithoutGuard"},
		{"another role", "guard", func(f *Facts, _ *Policy) { f.Server.Role = "other" }, inspect.Fail, "WithoutGuard"},
		{"clock off", "clock", func(f *Facts, _ *Policy) { f.Clock.Offset = -5 * time.Second }, inspect.Warn, "5.00s behind"},
		{"clock far off", "clock", func(f *Facts, _ *Policy) { f.Clock.Offset = time.Minute }, inspect.Warn,
			"costs each acquire a round trip"},
		{"no TIME", "clock", func(f *Facts, _ *Policy) { f.Clock = Clock{} }, inspect.Warn, "rights"},
		{"drifts", "clock drift", func(f *Facts, _ *Policy) { f.Clock.Drift = -0.002 }, inspect.Warn, "-2000 ppm, ±50"},
		{"drifts badly", "clock drift", func(f *Facts, _ *Policy) { f.Clock.Drift = 0.02 }, inspect.Fail, "1 %"},
		{"drift uncertain", "clock drift", func(f *Facts, _ *Policy) {
			f.Clock.Drift, f.Clock.DriftError = 0.02, 0.03
		}, inspect.Warn, "--for"},
		{"nodes apart", "clocks", func(f *Facts, _ *Policy) {
			f.Clock.Offset = 3 * time.Second
		}, inspect.Warn, "n2:6379 and n1:6379"},
		{"slow", "latency", func(f *Facts, _ *Policy) {
			f.Ping.P50, f.Ping.P99 = 60*time.Millisecond, 90*time.Millisecond
		}, inspect.Fail, "node timeout of 50ms"},
		{"slow at times", "latency", func(f *Facts, _ *Policy) {
			f.Ping.Missed, f.Ping.P99 = 2, 60*time.Millisecond
		}, inspect.Warn, "2 (2 %) not answered within 50ms"},
		{"stops again and again", "latency", func(f *Facts, _ *Policy) {
			f.Ping.Missed, f.Ping.P99 = 10, 60*time.Millisecond
		}, inspect.Fail, "10 (10 %) not answered within 50ms"},
		{"hardly in time", "latency", func(f *Facts, _ *Policy) { f.Ping.P99 = 30 * time.Millisecond }, inspect.Warn,
			"1 in 100 calls takes more than half"},
		{"slow for the TTL", "latency", func(f *Facts, p *Policy) {
			f.Ping.P99, p.TTL = 24*time.Millisecond, 400*time.Millisecond
		}, inspect.Warn, "tenth of the TTL"},
		{"loses calls", "latency", func(f *Facts, _ *Policy) { f.Ping.Err = io.EOF }, inspect.Warn, "EOF"},
		{"no ping", "latency", func(f *Facts, _ *Policy) {
			f.Ping = Latency{Err: errors.New("NOPERM ping")}
		}, inspect.Fail, "NOPERM ping"},
		{"slow scripts", "scripts", func(f *Facts, _ *Policy) { f.Script.P50 = 20 * time.Millisecond }, inspect.Warn, "proxy"},
		{"scripts too late", "scripts", func(f *Facts, _ *Policy) { f.Script.P99 = 80 * time.Millisecond }, inspect.Warn,
			"SLOWLOG"},
		{"no scripts", "scripts", func(f *Facts, _ *Policy) {
			f.Script = Latency{Err: errors.New("NOPERM eval")}
		}, inspect.Fail, "+evalsha"},
		{"lacks rights", "rights", func(f *Facts, _ *Policy) {
			f.Missing = []string{"+set", "~lock:*"}
		}, inspect.Fail, "+set ~lock:*"},
		{"rights unknown", "rights", func(f *Facts, p *Policy) {
			f.Unasked, p.ACLUser = errors.New("ACL DRYRUN: NOPERM"), "app"
		}, inspect.Warn, "+acl|dryrun"},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts, p := []Facts{sound(1), sound(2), sound(3)}, testPolicy()
			c.spoil(&facts[0], &p)
			results := Examine(facts, p)
			if got := inspect.Worst(results); got != c.status {
				t.Errorf("worst is %s, want %s", got, c.status)
			}
			r, ok := firstBad(results, c.check)
			if !ok || r.Status != c.status || !strings.Contains(r.Detail+" "+r.Advice, c.says) || r.Advice == "" {
				t.Errorf("%s says %+v, want %s with %q", c.check, r, c.status, c.says)
			}
		})
	}
}

func firstBad(results []inspect.Result, check string) (inspect.Result, bool) {
	for _, r := range results {
		if r.Check == check && r.Status != inspect.Pass {
			return r, true
		}
	}
	return inspect.Result{}, false
}

// TestLatencyNamesTheNodeTimeout that follows from the round trip, unless a call that failed took nobody knows how long.
func TestLatencyNamesTheNodeTimeout(t *testing.T) {
	p := testPolicy()
	p.NodeTimeout = engine.DefaultNodeTimeout(p.TTL)
	for _, c := range []struct {
		p99  time.Duration
		err  error
		says string
	}{
		{time.Millisecond, nil, "round trip p50 200µs, p99 1.0ms of 100: node timeout 50ms or more; it is 500ms, TTL 10s"},
		{90 * time.Millisecond, nil, "p99 90ms of 100: node timeout 180ms or more; it is 500ms"},
		{600 * time.Millisecond, nil, "p99 600ms of 100: node timeout 1.20s or more"},
		{time.Millisecond, io.EOF, "p99 1.0ms of 100; a call failed"},
	} {
		f := sound(1)
		f.Ping.P99, f.Ping.Err = c.p99, c.err
		if r := checkLatency(f, p); !strings.Contains(r.Detail, c.says) {
			t.Errorf("%q, want %q", r.Detail, c.says)
		}
	}
}

// TestPingRefused to a user: a script is not compared with what nobody answered.
func TestPingRefused(t *testing.T) {
	f := sound(1)
	f.Ping = Latency{Count: 100, Missed: 100, P50: 10 * time.Second, P99: 10 * time.Second,
		Err: errors.New("NOPERM this user has no permissions to run the 'ping' command")}
	if r := checkScripts(f, testPolicy()); r.Status != inspect.Pass || strings.Contains(r.Detail, "ping") {
		t.Errorf("%+v", r)
	}
	if r := checkLatency(f, testPolicy()); r.Status != inspect.Fail || !strings.Contains(r.Detail, "NOPERM") {
		t.Errorf("%+v", r)
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		nodes, down int
		single      string
		want        inspect.Status
		says        string
	}{
		{1, 0, "", inspect.Warn, "use three"}, {2, 0, "", inspect.Warn, "no more failures than 1"},
		{3, 0, "", inspect.Pass, "quorum is 2, 1 may fail"},
		{4, 0, "", inspect.Warn, "no more failures than 3"}, {5, 0, "", inspect.Pass, "2 may fail"}, {11, 0, "", inspect.Warn, "nine"},
		{3, 1, "", inspect.Warn, "1 cannot be reached"}, {3, 2, "", inspect.Fail, "only 1"}, {1, 1, "", inspect.Fail, "only 0"},
		{3, 0, "cluster", inspect.Warn, "one cluster counts as one node"},
	} {
		var facts []Facts
		for i := range c.nodes {
			f := sound(i)
			if i < c.down {
				f.Err = io.EOF
			}
			facts = append(facts, f)
		}
		r := checkCount(facts, Policy{Single: c.single})[0]
		if r.Status != c.want || !strings.Contains(r.Detail+r.Advice, c.says) {
			t.Errorf("%d nodes, %d down: %+v, want %s with %q", c.nodes, c.down, r, c.want, c.says)
		}
	}
}

// TestFewNodesHaveNoQuarantine: a fact that is a warning with three nodes is worse with one.
func TestFewNodesHaveNoQuarantine(t *testing.T) {
	f, p := sound(1), testPolicy()
	p.nodes = 1
	f.Fsync = "everysec"
	if r := checkPersistence(f, p); r.Status != inspect.Warn || !strings.Contains(r.Advice, "second holder") {
		t.Errorf("%+v", r)
	}
	f.Server.AOF = false
	if r := checkPersistence(f, p); r.Status != inspect.Fail {
		t.Errorf("%+v", r)
	}
	f.Server.Uptime, f.Marker = time.Second, stored.Marker{}
	if r := checkUptime(f, p); r.Status != inspect.Warn || !strings.Contains(r.Detail, "it votes") ||
		!strings.Contains(r.Advice, "WithRestartQuarantine") {
		t.Errorf("%+v", r)
	}
	p.Single = "cluster"
	if r := checkUptime(f, p); r.Status != inspect.Warn || strings.Contains(r.Detail+r.Advice, "vouched") ||
		strings.Contains(r.Detail, "not vote") {
		t.Errorf("%+v", r)
	}
}

// TestNodeOfASetNamedAlone: its marker refuses who names one or two nodes, in the words of redlock.
func TestNodeOfASetNamedAlone(t *testing.T) {
	for marker, fails := range map[string]bool{
		"voting|3:60000:abc|id1|0":                                      true,
		"voting|3:60000:abc|before|0":                                   true, // a restart
		"quarantine|3:60000:abc|id1|0|new.1|60602|0|0":                  true,
		"changing|1:60000:abc|id1|0|change-1|60602|0|0|3:60000:abc":     true,
		"changing|2:60000:abc|id1|0|left-change-1|60602|0|0|3:60000:ab": false,
		"voting|2:60000:abc|id1|0":                                      false,
		"":                                                              false,
	} {
		f, p := sound(1), testPolicy()
		f.Marked, f.Marker, p.nodes, p.NodeNames = marker, stored.ReadMarker(marker, "id1", 0), 1, []string{"n1:6379"}
		r := checkMarker(f, p)
		if fails && (r.Status != inspect.Fail || r.Detail != "this node votes for a set of 3 nodes, you named 1" ||
			!strings.HasPrefix(r.Advice, "name all 3")) || !fails && r.Status != inspect.Pass {
			t.Errorf("%q: %+v", marker, r)
		}
		p.Guard.WithoutGuard = true
		if r := checkMarker(f, p); r.Status != inspect.Pass {
			t.Errorf("%q without a guard: %+v", marker, r)
		}
	}
}

// TestQuarantineOfAChange: it protects leases of the old nodes, so even one or two nodes keep it, and no command ends it.
func TestQuarantineOfAChange(t *testing.T) {
	names := []string{"n1:6379", "n2:6379", "n3:6379"}
	for _, nodes := range []int{1, 2, 3} {
		ours := string(guard.NewFingerprint(names[:nodes], lock.DefaultMaxTTL))
		for marker, left := range map[string]string{
			"quarantine|" + ours + "|id1|0|change-x.1|60602|1000|1000": "41s",
			"quarantine|" + ours + "|id1|0|change-x.1|60602|0|0":       "1m01s",
			"quarantine|" + ours + "|before|0|change-x.1|600000|1|1":   "10m00s", // it begins anew
		} {
			f, p := sound(1), testPolicy()
			f.Server.Uptime = time.Second
			f.Marked, f.Marker, p.nodes, p.NodeNames = marker, stored.ReadMarker(marker, "id1", 0), nodes, names[:nodes]
			r := checkMarker(f, p)
			if r.Status != inspect.Warn || strings.Contains(r.Advice, "init") || !strings.HasPrefix(r.Advice, "wait") ||
				r.Detail != "quarantine of a change: leases of the old configuration can be valid, so it does not vote for "+
					"another "+left {
				t.Errorf("%d nodes, %q: %+v", nodes, marker, r)
			}
			if r := checkUptime(f, p); strings.Contains(r.Detail, "votes") {
				t.Errorf("%d nodes, %q: %+v", nodes, marker, r)
			}
		}
	}
	f, p := sound(1), testPolicy()
	f.Marked = "quarantine|" + string(guard.NewFingerprint(names[:1], lock.DefaultMaxTTL)) + "|id1|0|change-x.1|60602|0|0"
	p.nodes, p.NodeNames, p.Guard.WithoutGuard = 1, names[:1], true
	if r := checkMarker(f, p); r.Status != inspect.Pass {
		t.Errorf("without a guard: %+v", r)
	}
}

// TestVouchedNodeVotes: a young node, whatever it keeps on disk.
func TestVouchedNodeVotes(t *testing.T) {
	f, p := sound(1), testPolicy()
	f.Server.Uptime = 3 * time.Second
	p.NodeNames = []string{"n1:6379", "n2:6379", "n3:6379"}
	if r := checkMarker(f, p); r.Status != inspect.Pass || !strings.Contains(r.Detail, "it votes") {
		t.Errorf("%+v", r)
	}
	p.nodes = 2
	if r := checkUptime(f, p); r.Status != inspect.Pass || !strings.Contains(r.Detail, "vouched for as new: it votes") {
		t.Errorf("%+v", r)
	}
}

// TestEvictedBeforeItWasSilent: a node that votes again has waited out a quarantine since.
func TestEvictedBeforeItWasSilent(t *testing.T) {
	f := Facts{Server: Server{EvictedKeys: 7, CountsEvicted: true}, Marker: markerFor(1, "voting", "")}
	if got := checkEvicted(f, Policy{nodes: 3}); got.Status != inspect.Pass || !strings.Contains(got.Detail, "7 keys") {
		t.Errorf("of three nodes: %+v", got)
	}
	if got := checkEvicted(f, Policy{nodes: 1}); got.Status != inspect.Warn {
		t.Errorf("a node on its own: %+v", got)
	}
}

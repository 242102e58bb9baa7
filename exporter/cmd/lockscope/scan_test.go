package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// quick confirms at once: nobody takes locks in two steps here.
func quick(args ...string) []string {
	return append([]string{"scan", "--confirm-after", "10ms"}, args...)
}

func TestScanStatuses(t *testing.T) {
	servers := locktest.Servers(t, 2)
	c := admin(t, servers[0])
	both := []string{"--redis", addrs(servers...)}
	empty := command(t, quick(both...)...)
	empty.want(t, exitIncomplete, servers[0].Addr(), "nothing", "0 keys match lock:*", "INCOMPLETE", "no_match: no key matches")
	command(t, quick(append(both, "--allow-empty")...)...).want(t, exitClean, "0 keys match lock:*")

	set(t, c, "lock:fine", "v", time.Minute)
	fine := command(t, quick(both...)...)
	fine.want(t, exitClean, "1 keys match lock:*")
	fine.wantNot(t, "INCOMPLETE")

	set(t, c, "lock:leak", "v", 0)
	o := command(t, quick(both...)...)
	o.want(t, exitFindings, "no_ttl", "lock:leak", servers[0].Addr(), "never")
	if o.err != "" {
		t.Errorf("stderr is not empty: %s", o.err)
	}
	command(t, quick("--redis", addrs(servers...), "--fail-on", "long_ttl,orphan")...).want(t, exitClean, "lock:leak")
	command(t, quick("--redis", addrs(servers...), "--fail-on", "none")...).want(t, exitClean, "lock:leak")
	command(t, quick("--redis", addrs(servers...), "--checks", "long_ttl")...).want(t, exitClean)
	command(t, quick("--redis", addrs(servers...), "--prefix", "nothing:")...).want(t, exitIncomplete, "0 keys match nothing:*")
	command(t, quick("--redis", addrs(servers...), "--prefix", "nothing:", "--prefix", "lock:")...).want(t, exitFindings, "lock:leak", "0 keys match nothing:*", "2 keys match lock:*")
	command(t, quick("--redis", addrs(servers...), "--pattern", "no[th]ing*", "--allow-empty")...).want(t, exitClean)
	command(t, quick("--redis", addrs(servers...), "--pattern", "lock:l??k")...).want(t, exitFindings, "lock:leak")
}

func TestScanTable(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	set(t, c, "lock:leak", "v", 0)
	set(t, c, "lock:\x1b[2J\xff", ours, 0)
	o := command(t, quick("--redis", s.Addr(), "--checks", "no_ttl")...)
	o.want(t, exitFindings)
	o.wantNot(t, secretToken, "\x1b")
	const evidence = "its TTL is -1: nothing but its holder or a person will ever remove it"
	pad := strings.Repeat(" ", len(s.Addr())-len("NODE"))
	want := "CLASS   NODE" + pad + "  KEY                 TTL    HOLDER       EVIDENCE\n" +
		"no_ttl  " + s.Addr() + `  "lock:\x1b[2J\xff"  never  worker-7/42  ` + evidence + "\n" +
		"no_ttl  " + s.Addr() + "  lock:leak           never  -            " + evidence + "\n"
	if !strings.HasPrefix(o.out, want) {
		t.Errorf("got\n%s\nwant\n%s", o.out, want)
	}
}

func TestScanJSON(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	const key = "lock:\x00\xfe\n"
	set(t, c, key, ours, 0)
	set(t, c, "lock:long", "v", 100*time.Hour)
	set(t, c, "lock:old", ours, time.Minute)
	must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 3).Err())
	o := command(t, quick("--redis", s.Addr(), "-o", "json")...)
	o.want(t, exitFindings)
	o.wantNot(t, secretToken)
	var r scanner.Document
	o.decode(t, &r)
	if r.Schema != 1 || r.Status != "findings" || r.Truncated || len(r.Nodes) != 1 || r.Nodes[0].Locks != 4 || len(r.Pending) != 0 {
		t.Errorf("%+v", r)
	}
	found := make(map[string]scanner.FindingDocument)
	for _, f := range r.Findings {
		bytes, err := base64.StdEncoding.DecodeString(*f.KeyBase64)
		must(t, err)
		found[string(bytes)+" "+string(f.Class)] = f
	}
	f := found[key+" no_ttl"]
	if f.Key != `"lock:\x00\xfe\n"` || f.TTL != nil || f.Holder == nil || f.Holder.Name != "worker-7/42" || f.Holder.Fence != 1763000000000001 || f.Holder.Since.IsZero() {
		t.Errorf("%+v", f)
	}
	if f := found["lock:old held_too_long"]; f.TTL == nil || f.Holder == nil {
		t.Errorf("%+v", f)
	}
	if f := found["lock:long long_ttl"]; f.TTL == nil || *f.TTL < 3600 {
		t.Errorf("%+v", f)
	}
	if f := found["lock:redisson no_ttl"]; f.Type != "hash" || f.Holder == nil || f.Holder.Count != 3 {
		t.Errorf("%+v", f)
	}
}

func TestScanQuiet(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	command(t, quick("--redis", s.Addr(), "-q")...).want(t, exitIncomplete, "no_match")
	if o := command(t, quick("--redis", s.Addr(), "-q", "--allow-empty")...); o != (outcome{}) {
		t.Errorf("%+v", o)
	}
	set(t, admin(t, s), "lock:leak", "v", 0)
	command(t, quick("--redis", s.Addr(), "-q")...).want(t, exitFindings, "lock:leak")
}

func TestScanUnreachableNode(t *testing.T) {
	servers := locktest.Servers(t, 2)
	set(t, admin(t, servers[0]), "lock:leak", "v", 0)
	must(t, servers[1].Kill())
	o := command(t, quick("--redis", addrs(servers...), "-o", "json")...)
	o.want(t, exitError, servers[1].Addr()+": ", "refused")
	var r scanner.Document
	o.decode(t, &r)
	if r.Status != "error" || !r.Truncated || len(r.Findings) != 1 || r.Findings[0].Key != "lock:leak" {
		t.Errorf("%+v", r)
	}
	for _, n := range r.Nodes {
		if (n.Error != "") != (n.Node == servers[1].Addr()) {
			t.Errorf("%+v", n)
		}
	}
}

// TestScanSaysOneThingALine of each node that could not be read.
func TestScanSaysOneThingALine(t *testing.T) {
	o := command(t, quick("--redis", "127.0.0.1:1,127.0.0.1:2")...)
	o.want(t, exitError)
	for _, node := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		if !strings.Contains(o.err, "lockscope: scanner: node "+node+": ") {
			t.Errorf("%s is not told of in a line of its own:\n%s", node, o.err)
		}
	}
}

func TestScanWrongPassword(t *testing.T) {
	const wrong, right = "wr0ng-s3cret", "r1ght-s3cret"
	s := locktest.Servers(t, 1)[0]
	must(t, admin(t, s).ConfigSet(t.Context(), "requirepass", right).Err())
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte(wrong+"\n"), 0o600))
	for name, o := range map[string]outcome{
		"URL":  command(t, quick("--redis", "redis://:"+wrong+"@"+s.Addr())...),
		"file": command(t, quick("--redis", s.Addr(), "--redis-password-file", file, "--log.level", "debug")...),
		"env":  commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + wrong}, "", quick("--redis", s.Addr())...),
	} {
		t.Log(name)
		o.want(t, exitError, "WRONGPASS", s.Addr())
		o.wantNot(t, wrong, right)
	}
	command(t, quick("--redis", s.Addr())...).want(t, exitError, "NOAUTH")
	commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + right}, "", quick("--redis", s.Addr(), "--allow-empty")...).want(t, exitClean)
	commandWith(t, nil, "redis://:"+right+"@"+s.Addr()+"\n", quick("--redis-file", "-", "--allow-empty")...).want(t, exitClean)
}

// TestScanHugeValue finds a leak of 512 MB, the most a value may have, without
// fetching it.
func TestScanHugeValue(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	must(t, c.SetRange(t.Context(), "lock:huge", 64<<20-1, "x").Err())
	sent := func() (n int64) {
		_, rest, _ := strings.Cut(c.Info(t.Context(), "stats").Val(), "total_net_output_bytes:")
		_, err := fmt.Sscan(rest, &n)
		must(t, err)
		return n
	}
	before := sent()
	command(t, quick("--redis", s.Addr())...).want(t, exitFindings, "lock:huge")
	if n := sent() - before; n > 64<<10 {
		t.Errorf("the server sent %d bytes", n)
	}
	must(t, c.Del(t.Context(), "lock:huge").Err())
}

func TestScanCluster(t *testing.T) {
	cluster := locktest.Cluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	for i := range 20 {
		set(t, c, fmt.Sprintf("lock:leak%d", i), "v", 0)
	}
	o := command(t, quick("--cluster", "--redis", cluster.Addrs()[0], "-o", "json")...)
	o.want(t, exitFindings)
	var r scanner.Document
	o.decode(t, &r)
	if len(r.Nodes) != 3 || len(r.Findings) != 20 || !r.Complete {
		t.Errorf("%d nodes, %d findings, %+v", len(r.Nodes), len(r.Findings), r.Gaps)
	}
	one := command(t, quick("--redis", cluster.Addrs()[0], "--fail-on", "orphan", "-o", "json")...)
	one.want(t, exitIncomplete)
	one.decode(t, &r)
	if r.Status != "incomplete" || r.Complete || len(r.Gaps) != 1 || r.Gaps[0].Reason != scanner.ReasonSlotsUncovered {
		t.Errorf("one master by itself: %s, %+v", r.Status, r.Gaps)
	}
}

func TestScanTextfile(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	set(t, admin(t, s), "lock:leak", "v", 0)
	dir := t.TempDir()
	path := filepath.Join(dir, "lockscope.prom")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	command(t, quick("--redis", s.Addr(), "--textfile", path)...).want(t, exitFindings)
	text, err := os.ReadFile(path)
	must(t, err)
	if want := fmt.Sprintf("distributed_lock_scanner_leaked_locks{lock_node=%q} 1\n", s.Addr()); !strings.Contains(string(text), want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	command(t, quick("--redis", s.Addr(), "--textfile", filepath.Join(dir, "missing", "x.prom"))...).
		want(t, exitError, "--textfile", "lock:leak")
}

// receiver is an HTTP server that keeps what it is sent.
func receiver(t *testing.T, status int) (url string, bodies <-chan string) {
	t.Helper()
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		got <- strings.Join([]string{r.Method, r.URL.Path, user, password, string(body)}, " ")
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestScanPushgateway(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	url, got := receiver(t, http.StatusOK)
	command(t, quick("--redis", s.Addr(), "--allow-empty", "--pushgateway", strings.Replace(url, "http://", "http://app:s3cret@", 1))...).want(t, exitClean)
	if body := <-got; !strings.HasPrefix(body, "PUT /metrics/job/lockscope_scan app s3cret ") || !strings.Contains(body, "distributed_lock_scanner_up") {
		t.Errorf("%q", body)
	}
	url, _ = receiver(t, http.StatusForbidden)
	o := command(t, quick("--redis", s.Addr(), "--pushgateway", strings.Replace(url, "http://", "http://app:s3cret@", 1))...)
	o.want(t, exitError, "--pushgateway", "403")
	o.wantNot(t, "s3cret")
}

func TestScanNotifies(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	set(t, admin(t, s), "lock:leak", ours, 0)
	hook, hooked := receiver(t, http.StatusOK)
	am, alerted := receiver(t, http.StatusOK)
	commandWith(t, []string{"LOCKSCOPE_WEBHOOK=" + hook + "/in"}, "",
		quick("--redis", s.Addr(), "--alertmanager", am)...).want(t, exitFindings)
	for want, from := range map[string]<-chan string{"POST /in ": hooked, "POST /api/v2/alerts ": alerted} {
		if body := <-from; !strings.HasPrefix(body, want) || !strings.Contains(body, "lock:leak") || strings.Contains(body, secretToken) {
			t.Errorf("%q", body)
		}
	}
	dead := command(t, quick("--redis", s.Addr(), "--webhook", "http://127.0.0.1:1/s3cret-path")...)
	dead.want(t, exitError, "lock:leak")
	dead.wantNot(t, "s3cret-path")
}

func TestScanDeadline(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	plant(t, c, 2000)
	o := command(t, "scan", "--redis", s.Addr(), "--page-size", "10", "--pause", "20ms", "--deadline", "200ms", "--confirm-after", "10ms", "-o", "json")
	o.want(t, exitError, "cut short")
	var r scanner.Document
	o.decode(t, &r)
	if !r.Truncated || r.Status != "error" {
		t.Errorf("%+v", r)
	}
}

// plant makes n locks that are fine.
func plant(t *testing.T, c *redis.Client, n int) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), "v", time.Hour)
	}
	_, err := pipe.Exec(t.Context())
	must(t, err)
}

func TestScanCancelled(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	plant(t, c, 2000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errOut strings.Builder
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"scan", "--redis", s.Addr(), "--page-size", "10", "--pause", "50ms", "-o", "json"}, nil, strings.NewReader(""), &out, &errOut)
	}()
	eventually(t, "pages are read", func() bool { return strings.Contains(c.Info(t.Context(), "commandstats").Val(), "cmdstat_scan:calls=") })
	cancel()
	o := outcome{<-status, out.String(), errOut.String()}
	o.want(t, exitError, "lockscope: interrupted: the report is what was known by then\n")
	var r scanner.Document
	o.decode(t, &r)
	if !r.Truncated {
		t.Errorf("%+v", r)
	}
}

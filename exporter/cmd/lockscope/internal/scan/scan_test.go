package scan

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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/report"
)

func TestScanStatuses(t *testing.T) {
	servers := locktest.Servers(t, 2)
	c := cmdtest.Admin(t, servers[0])
	both := []string{"--redis", cmdtest.Addrs(servers...)}
	empty := command(t, cmdtest.Quick(both...)...)
	empty.Want(t, ui.ExitIncomplete, servers[0].Addr(), "nothing", "0 keys match lock:*", "INCOMPLETE",
		"no_match: no key matches")
	command(t, cmdtest.Quick(append(both, "--allow-empty")...)...).Want(t, ui.ExitClean, "0 keys match lock:*")

	cmdtest.Set(t, c, "lock:fine", "v", time.Minute)
	fine := command(t, cmdtest.Quick(both...)...)
	fine.Want(t, ui.ExitClean, "1 key matches lock:*")
	fine.WantNot(t, "INCOMPLETE")

	cmdtest.Set(t, c, "lock:leak", "v", 0)
	o := command(t, cmdtest.Quick(both...)...)
	o.Want(t, ui.ExitFindings, "no_ttl", "lock:leak", servers[0].Addr(), "never")
	if o.Err != "" {
		t.Errorf("stderr is not empty: %s", o.Err)
	}
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--fail-on", "long_ttl,orphan")...).Want(t,
		ui.ExitClean, "lock:leak")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--fail-on", "none")...).Want(t, ui.ExitClean,
		"lock:leak")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--checks", "long_ttl")...).Want(t, ui.ExitClean)
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--prefix", "nothing:")...).Want(t,
		ui.ExitIncomplete,
		"0 keys match nothing:*")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--prefix", "nothing:", "--prefix",
		"lock:")...).Want(t, ui.ExitFindings, "lock:leak", "0 keys match nothing:*", "2 keys match lock:*")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--pattern", "no[th]ing*",
		"--allow-empty")...).Want(t,
		ui.ExitClean)
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--pattern", "lock:l??k")...).Want(t,
		ui.ExitFindings,
		"lock:leak")
}

func TestScanTable(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:leak", "v", 0)
	cmdtest.Set(t, c, "lock:\x1b[2J\xff", cmdtest.Ours, 0)
	o := command(t, cmdtest.Quick("--redis", s.Addr(), "--checks", "no_ttl")...)
	o.Want(t, ui.ExitFindings)
	o.WantNot(t, cmdtest.SecretToken, "\x1b")
	const evidence = "its TTL is -1: it stays until its holder or a person deletes it"
	pad := strings.Repeat(" ", len(s.Addr())-len("NODE"))
	want := "CLASS   NODE" + pad + "  KEY                 TTL    HOLDER                  EVIDENCE\n" +
		"no_ttl  " + s.Addr() + `  "lock:\x1b[2J\xff"  never  worker-7/42             ` + evidence + "\n" +
		"no_ttl  " + s.Addr() + "  lock:leak           never  unnamed, never expires  " + evidence + "\n"
	if !strings.HasPrefix(o.Out, want) {
		t.Errorf("got\n%s\nwant\n%s", o.Out, want)
	}
	cmdtest.Must(t, c.LPush(t.Context(), "lock:list", "v").Err())
	command(t, cmdtest.Quick("--redis", s.Addr(), "--checks", "foreign_type")...).Want(t, ui.ExitFindings,
		"lock:list  never  -  ") // nobody holds what is no lock
}

func TestScanJSON(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	const key = "lock:\x00\xfe\n"
	cmdtest.Set(t, c, key, cmdtest.Ours, 0)
	cmdtest.Set(t, c, "lock:long", "v", 100*time.Hour)
	cmdtest.Set(t, c, "lock:old", cmdtest.Ours, time.Minute)
	cmdtest.Must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 3).Err())
	o := command(t, cmdtest.Quick("--redis", s.Addr(), "-o", "json")...)
	o.Want(t, ui.ExitFindings)
	o.WantNot(t, cmdtest.SecretToken)
	var r report.Document
	o.Decode(t, &r)
	if r.Schema != 1 || r.Status != "findings" || r.Truncated || len(r.Nodes) != 1 || r.Nodes[0].Locks != 4 ||
		len(r.Pending) != 0 {
		t.Errorf("%+v", r)
	}
	found := make(map[string]report.FindingDocument)
	for _, f := range r.Findings {
		bytes, err := base64.StdEncoding.DecodeString(*f.KeyBase64)
		cmdtest.Must(t, err)
		found[string(bytes)+" "+string(f.Class)] = f
	}
	f := found[key+" no_ttl"]
	if f.Key != `"lock:\x00\xfe\n"` || f.TTL != nil || f.Holder == nil || f.Holder.Name != "worker-7/42" ||
		f.Holder.Fence != 1763000000000001 || f.Holder.Since.IsZero() {
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
	command(t, cmdtest.Quick("--redis", s.Addr(), "-q")...).Want(t, ui.ExitIncomplete, "no_match")
	if o := command(t, cmdtest.Quick("--redis", s.Addr(), "-q", "--allow-empty")...); o != (cmdtest.Outcome{}) {
		t.Errorf("%+v", o)
	}
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:leak", "v", 0)
	command(t, cmdtest.Quick("--redis", s.Addr(), "-q")...).Want(t, ui.ExitFindings, "lock:leak")
}

func TestScanUnreachableNode(t *testing.T) {
	servers := locktest.Servers(t, 2)
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:leak", "v", 0)
	cmdtest.Must(t, servers[1].Kill())
	o := command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "-o", "json")...)
	o.Want(t, ui.ExitError, servers[1].Addr()+": ", "refused")
	var r report.Document
	o.Decode(t, &r)
	if r.Status != "error" || !r.Truncated || len(r.Findings) != 1 || r.Findings[0].Key != "lock:leak" {
		t.Errorf("%+v", r)
	}
	for _, n := range r.Nodes {
		if (n.Error != "") != (n.Node == servers[1].Addr()) {
			t.Errorf("%+v", n)
		}
	}
}

// TestScanSaysOneThingALine about each node that could not be read.
func TestScanSaysOneThingALine(t *testing.T) {
	o := command(t, cmdtest.Quick("--redis", "127.0.0.1:1,127.0.0.1:2")...)
	o.Want(t, ui.ExitError)
	for _, node := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		if !strings.Contains(o.Err, "lockscope: scanner: node "+node+": ") {
			t.Errorf("%s is not told of in a line of its own:\n%s", node, o.Err)
		}
	}
}

func TestScanWrongPassword(t *testing.T) {
	const wrong, right = "wr0ng-s3cret", "r1ght-s3cret"
	s := locktest.Servers(t, 1)[0]
	cmdtest.Must(t, cmdtest.Admin(t, s).ConfigSet(t.Context(), "requirepass", right).Err())
	file := filepath.Join(t.TempDir(), "password")
	cmdtest.Must(t, os.WriteFile(file, []byte(wrong+"\n"), 0o600))
	for name, o := range map[string]cmdtest.Outcome{
		"URL": command(t, cmdtest.Quick("--redis", "redis://:"+wrong+"@"+s.Addr())...),
		"file": command(t, cmdtest.Quick("--redis", s.Addr(), "--redis-password-file", file, "--log.level",
			"debug")...),
		"env": commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + wrong}, "",
			cmdtest.Quick("--redis", s.Addr())...),
	} {
		t.Log(name)
		o.Want(t, ui.ExitError, "WRONGPASS", s.Addr())
		o.WantNot(t, wrong, right)
	}
	command(t, cmdtest.Quick("--redis", s.Addr())...).Want(t, ui.ExitError, "NOAUTH")
	commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=" + right}, "",
		cmdtest.Quick("--redis", s.Addr(), "--allow-empty")...).Want(t, ui.ExitClean)
	commandWith(t, nil, "redis://:"+right+"@"+s.Addr()+"\n",
		cmdtest.Quick("--redis-file", "-", "--allow-empty")...).Want(t, ui.ExitClean)
}

// TestScanHugeValue finds a leak with a value of 512 MB, Redis's limit, without fetching it.
func TestScanHugeValue(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Must(t, c.SetRange(t.Context(), "lock:huge", 64<<20-1, "x").Err())
	sent := func() (n int64) {
		_, rest, _ := strings.Cut(c.Info(t.Context(), "stats").Val(), "total_net_output_bytes:")
		_, err := fmt.Sscan(rest, &n)
		cmdtest.Must(t, err)
		return n
	}
	before := sent()
	command(t, cmdtest.Quick("--redis", s.Addr())...).Want(t, ui.ExitFindings, "lock:huge")
	if n := sent() - before; n > 64<<10 {
		t.Errorf("the server sent %d bytes", n)
	}
	cmdtest.Must(t, c.Del(t.Context(), "lock:huge").Err())
}

func TestScanCluster(t *testing.T) {
	cluster := locktest.Cluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	for i := range 20 {
		cmdtest.Set(t, c, fmt.Sprintf("lock:leak%d", i), "v", 0)
	}
	o := command(t, cmdtest.Quick("--cluster", "--redis", cluster.Addrs()[0], "-o", "json")...)
	o.Want(t, ui.ExitFindings)
	var r report.Document
	o.Decode(t, &r)
	if len(r.Nodes) != 3 || len(r.Findings) != 20 || !r.Complete {
		t.Errorf("%d nodes, %d findings, %+v", len(r.Nodes), len(r.Findings), r.Gaps)
	}
	one := command(t, cmdtest.Quick("--redis", cluster.Addrs()[0], "--fail-on", "orphan", "-o", "json")...)
	one.Want(t, ui.ExitIncomplete)
	one.Decode(t, &r)
	if r.Status != "incomplete" || r.Complete || len(r.Gaps) != 1 || r.Gaps[0].Reason != report.ReasonSlotsUncovered {
		t.Errorf("one master by itself: %s, %+v", r.Status, r.Gaps)
	}
}

func TestScanTextfile(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:leak", "v", 0)
	dir := t.TempDir()
	path := filepath.Join(dir, "lockscope.prom")
	cmdtest.Must(t, os.WriteFile(path, []byte("old"), 0o600))
	command(t, cmdtest.Quick("--redis", s.Addr(), "--textfile", path)...).Want(t, ui.ExitFindings)
	text, err := os.ReadFile(path)
	cmdtest.Must(t, err)
	if want := fmt.Sprintf("distributed_lock_scanner_leaked_locks{lock_node=%q} 1\n",
		s.Addr()); !strings.Contains(string(text), want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	entries, err := os.ReadDir(dir)
	cmdtest.Must(t, err)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	command(t, cmdtest.Quick("--redis", s.Addr(), "--textfile", filepath.Join(dir, "missing", "x.prom"))...).
		Want(t, ui.ExitError, "--textfile", "lock:leak")
}

// receiver is an HTTP server that records what it receives.
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
	command(t, cmdtest.Quick("--redis", s.Addr(), "--allow-empty", "--pushgateway",
		strings.Replace(url, "http://", "http://app:s3cret@", 1))...).Want(t, ui.ExitClean)
	if body := <-got; !strings.HasPrefix(body, "PUT /metrics/job/lockscope_scan app s3cret ") ||
		!strings.Contains(body, "distributed_lock_scanner_up") {
		t.Errorf("%q", body)
	}
	url, _ = receiver(t, http.StatusForbidden)
	o := command(t, cmdtest.Quick("--redis", s.Addr(), "--pushgateway",
		strings.Replace(url, "http://", "http://app:s3cret@", 1))...)
	o.Want(t, ui.ExitError, "--pushgateway", "403")
	o.WantNot(t, "s3cret")
}

func TestScanNotifies(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:leak", cmdtest.Ours, 0)
	hook, hooked := receiver(t, http.StatusOK)
	am, alerted := receiver(t, http.StatusOK)
	commandWith(t, []string{"LOCKSCOPE_WEBHOOK=" + hook + "/in"}, "",
		cmdtest.Quick("--redis", s.Addr(), "--alertmanager", am)...).Want(t, ui.ExitFindings)
	for want, from := range map[string]<-chan string{"POST /in ": hooked, "POST /api/v2/alerts ": alerted} {
		if body := <-from; !strings.HasPrefix(body, want) || !strings.Contains(body, "lock:leak") ||
			strings.Contains(body, cmdtest.SecretToken) {
			t.Errorf("%q", body)
		}
	}
	dead := command(t, cmdtest.Quick("--redis", s.Addr(), "--webhook", "http://127.0.0.1:1/s3cret-path")...)
	dead.Want(t, ui.ExitError, "lock:leak")
	dead.WantNot(t, "s3cret-path")
}

func TestScanDeadline(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Plant(t, c, 2000)
	o := command(t, "scan", "--redis", s.Addr(), "--page-size", "10", "--pause", "20ms", "--deadline", "200ms",
		"--confirm-after", "10ms", "-o", "json")
	o.Want(t, ui.ExitError, "cut short")
	var r report.Document
	o.Decode(t, &r)
	if !r.Truncated || r.Status != "error" {
		t.Errorf("%+v", r)
	}
}

func TestScanCancelled(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Plant(t, c, 2000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errOut strings.Builder
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"scan", "--redis", s.Addr(), "--page-size", "10", "--pause", "50ms", "-o", "json"},
			nil,
			strings.NewReader(""), &out, &errOut)
	}()
	cmdtest.Eventually(t, "pages are read", func() bool {
		return strings.Contains(c.Info(t.Context(), "commandstats").Val(), "cmdstat_scan:calls=")
	})
	cancel()
	o := cmdtest.Outcome{Status: <-status, Out: out.String(), Err: errOut.String()}
	o.Want(t, ui.ExitError, "lockscope: interrupted: the report has what was known by then: about ",
		"keys examined, 0 of 1 node read to the end\n")
	var r report.Document
	o.Decode(t, &r)
	if !r.Truncated {
		t.Errorf("%+v", r)
	}
}

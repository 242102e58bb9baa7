package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/exporter/otlp/otlptest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/redlock"
)

// asProgram makes this test binary be the service.
const asProgram = "LOCKSCOPE_TEST_IS_THE_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	for _, kv := range os.Environ() { // what the developer's shell says is not under test
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") || name == "REDIS_URLS" {
			_ = os.Unsetenv(name)
		}
	}
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// redisServers starts real Redis nodes and returns their URLs, and clients to look at them.
func redisServers(t *testing.T, n int) (urls string, clients []*redis.Client) {
	t.Helper()
	var all []string
	for _, s := range locktest.Servers(t, n) {
		all = append(all, "redis://"+s.Addr())
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		t.Cleanup(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	return strings.Join(all, ","), clients
}

// vouch lets new nodes vote at once.
func vouch(t *testing.T, clients []*redis.Client) {
	t.Helper()
	var nodes []redis.UniversalClient
	for _, c := range clients {
		nodes = append(nodes, c)
	}
	must(t, redlock.Vouch(t.Context(), nodes))
}

// TestInMemory needs nothing but Go.
func TestInMemory(t *testing.T) {
	t.Setenv("LOCKSCOPE_FLEET_URL", "http://lockscope:17380/debug/locks/fleet")
	s := startService(t, "-nodes=3", "-charge-takes=1ms")
	if code, _, text := s.do(t, http.MethodPost, s.api+"/orders/1001/charge"); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
	_, _, metrics := s.do(t, http.MethodGet, s.telemetry+"/metrics")
	contains(t, metrics, `distributed_lock_nodes{backend="memory"} 3`)
	_, _, page := s.do(t, http.MethodGet, s.telemetry+"/debug/locks", "Accept: application/json")
	contains(t, page, `"fleet":"http://lockscope:17380/debug/locks/fleet"`)
	s.stop()
	must(t, s.ended(t))
}

// TestCopyable: whoever copies the example has no access to packages that are internal here.
func TestCopyable(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	must(t, err)
	if strings.Contains(string(out), "/internal/") {
		t.Errorf("an internal package is imported: %s", out)
	}
}

// locks are the keys of locks on any node.
func locks(t *testing.T, clients []*redis.Client) (keys []string) {
	t.Helper()
	for _, c := range clients {
		found, err := c.Keys(context.Background(), "lock:*").Result()
		must(t, err)
		keys = append(keys, found...)
	}
	return keys
}

// service is one that runs in this process.
type service struct {
	api, telemetry string
	logs           *buffer
	stop           context.CancelFunc
	result         chan error
	client         *http.Client
}

type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startService runs the service on free ports until the test ends or stop is called.
func startService(t *testing.T, args ...string) *service {
	t.Helper()
	args = append([]string{"-listen=127.0.0.1:0", "-web.listen-address=127.0.0.1:0", "-log.format=json",
		"-log.level=debug", "-node-timeout=1s"}, args...)
	cfg, err := parseFlags(args, io.Discard)
	must(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	s := &service{logs: new(buffer), result: make(chan error, 1), client: &http.Client{Transport: transport}}
	ready := make(chan struct{})
	cfg.ready = func(api, telemetry string) {
		s.api, s.telemetry = api, telemetry
		close(ready)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	var running sync.WaitGroup
	running.Go(func() { s.result <- run(ctx, cfg, s.logs) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		transport.CloseIdleConnections()
	})
	select {
	case <-ready:
	case err := <-s.result:
		t.Fatalf("run returned %v", err)
	}
	return s
}

func (s *service) do(t testing.TB, method, url string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	must(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := s.client.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, res.Header, string(body)
}

func (s *service) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.result:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the service does not end")
		return nil
	}
}

func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in: %.3000s", p, text)
		}
	}
}

// traceID is the trace that the test's requests come with.
const traceID = "0af7651916cd43dd8448eb211c80319c"

// TestService drives the whole service on real Redis nodes and reads back all that
// it tells.
func TestService(t *testing.T) {
	collector := otlptest.NewHTTP(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	urls, clients := redisServers(t, 3)
	vouch(t, clients)
	s := startService(t, "-redis="+urls, "-charge-takes=5ms", "-instance=orders-1")
	await(t, "it is ready", func() bool {
		code, _, _ := s.do(t, http.MethodGet, s.telemetry+"/readyz")
		return code == http.StatusOK
	})

	const orders, charges = 3, 8
	var wg sync.WaitGroup
	for i := range orders * charges {
		wg.Go(func() {
			url := s.api + "/orders/" + []string{"1001", "1002", "1003"}[i%orders] + "/charge"
			code, _, body := s.do(t, http.MethodPost, url, "traceparent: 00-"+traceID+"-b7ad6b7169203331-01")
			if code != http.StatusOK {
				t.Errorf("charge: %d %s", code, body)
			}
		})
	}
	wg.Wait()
	for _, id := range []string{"1001", "1002", "1003"} {
		var o order
		_, _, body := s.do(t, http.MethodGet, s.api+"/orders/"+id)
		must(t, json.Unmarshal([]byte(body), &o))
		if o.ID != id || o.Charges != charges || o.Cents != charges*priceCents || o.Fence == 0 {
			t.Errorf("order is %+v, want %d charges", o, charges)
		}
	}

	_, _, metrics := s.do(t, http.MethodGet, s.telemetry+"/metrics",
		"Accept: application/openmetrics-text;version=1.0.0")
	contains(t, metrics, "distributed_lock_wait_seconds_count{resource=\"order:*\"} 24\n",
		"distributed_lock_failures_total{resource=\"order:*\"} 0.0\n",
		`distributed_lock_nodes{backend="redis"} 3.0`+"\n", `trace_id="`+traceID+`"`, "go_goroutines ")
	_, _, state := s.do(t, http.MethodGet, s.telemetry+"/debug/locks", "Accept: application/json")
	contains(t, state, `"instance":"orders-1"`, `"order:1001"`, `"trace_id":"`+traceID+`"`)

	s.stop()
	must(t, s.ended(t))
	checkSpans(t, collector.Spans(), orders*charges)
	contains(t, s.logs.String(), `"msg":"charged"`, `"trace_id":"`+traceID+`"`, `"msg":"shutting down"`)
}

// checkSpans wants, for each charge, a request with lock.acquire in it, and the nodes
// in that unless it was handed the lock.
func checkSpans(t *testing.T, spans []otlptest.Span, charges int) {
	t.Helper()
	byID := make(map[string]otlptest.Span)
	for _, s := range spans {
		byID[string(s.SpanId)] = s
	}
	acquired, handed, voted := 0, 0, make(map[string]bool)
	for _, s := range spans {
		parent := byID[string(s.ParentSpanId)]
		switch {
		case s.Name == "lock.acquire":
			acquired++
			for _, a := range s.Attributes {
				if a.Key == "distributed_lock.handed_over" {
					handed++
				}
			}
			if parent.Span == nil || parent.Name != "POST /orders/{id}/charge" ||
				s.Resource["service.name"] != "orders" {
				t.Errorf("the parent of lock.acquire is %v", parent.Span)
			}
		case s.Kind == tracepb.Span_SPAN_KIND_CLIENT && parent.Span != nil && parent.Name == "lock.acquire":
			voted[string(s.ParentSpanId)] = true
		}
	}
	if acquired != charges || len(voted)+handed != charges {
		t.Errorf("%d spans lock.acquire, %d with nodes and %d handed over; want %d of %d spans", acquired, len(voted),
			handed, charges, len(spans))
	}
}

// TestHeldElsewhere: another process has the lock.
func TestHeldElsewhere(t *testing.T) {
	urls, _ := redisServers(t, 1)
	other, err := redlock.Open(strings.Split(urls, ","), lock.WithInstance("batch-7"))
	must(t, err)
	defer other.Close()
	lease, err := other.Acquire(t.Context(), "order:1001")
	must(t, err)
	defer lease.Release(context.Background())
	s := startService(t, "-redis="+urls)
	code, header, body := s.do(t, http.MethodPost, s.api+"/orders/1001/charge")
	if after := header.Get("Retry-After"); code != http.StatusLocked || after < "1" || after > "5" {
		t.Errorf("%d, Retry-After %q", code, after)
	}
	contains(t, body, `"held_by":"batch-7"`, `"held_since":"`)
	contains(t, s.logs.String(), `"msg":"not charged"`, `"reason":"timeout"`)
}

// TestNoQuorum: two of three nodes are gone.
func TestNoQuorum(t *testing.T) {
	servers := locktest.Servers(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	must(t, servers[0].Stop())
	must(t, servers[1].Stop())
	s := startService(t, "-redis="+strings.Join(urls, ","))
	code, header, body := s.do(t, http.MethodPost, s.api+"/orders/1001/charge")
	if code != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" {
		t.Errorf("%d, Retry-After %q, %s", code, header.Get("Retry-After"), body)
	}
	if code, _, text := s.do(t, http.MethodGet, s.telemetry+"/readyz"); code != http.StatusServiceUnavailable ||
		!strings.Contains(text, "locks: ") {
		t.Errorf("/readyz: %d %s", code, text)
	}
	if code, _, _ := s.do(t, http.MethodGet, s.telemetry+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
}

func TestBadRequests(t *testing.T) {
	urls, clients := redisServers(t, 1)
	s := startService(t, "-redis="+urls)
	for path, want := range map[string]int{
		"/orders/%7Bx%7D/charge": 400, "/orders/a%0Ab/charge": 400, "/orders/" + strings.Repeat("a", 65) +
			"/charge": 400,
		"/orders//charge": 405, "/charge": 404, "/orders/1001": 405,
	} {
		if code, _, body := s.do(t, http.MethodPost, s.api+path); code != want {
			t.Errorf("POST %s: %d, want %d: %s", path, code, want, body)
		}
	}
	if code, _, _ := s.do(t, http.MethodGet, s.api+"/orders/none"); code != http.StatusNotFound {
		t.Errorf("GET of an order there is not: %d", code)
	}
	if keys := locks(t, clients); len(keys) != 0 {
		t.Errorf("locks were taken: %q", keys)
	}
}

// TestSIGTERM stops a process of its own in the middle of its work.
func TestSIGTERM(t *testing.T) {
	urls, clients := redisServers(t, 1)
	cmd := exec.Command(os.Args[0], "-listen=127.0.0.1:0", "-web.listen-address=127.0.0.1:0", "-log.format=json",
		"-node-timeout=1s", "-charge-takes=500ms")
	cmd.Env = append(os.Environ(), asProgram+"=1", "REDIS_URLS="+urls)
	p, err := process.Start("service", t.TempDir(), cmd)
	must(t, err)
	defer func() { must(t, p.Kill()) }()
	serving, err := p.Await(t.Context(), regexp.MustCompile(`.*"msg":"serving".*\n`))
	must(t, err)
	var addresses struct{ API string }
	must(t, json.Unmarshal([]byte(serving[0]), &addresses))
	var wg sync.WaitGroup
	wg.Go(func() {
		res, err := http.Post(addresses.API+"/orders/1001/charge", "", nil)
		if err != nil {
			t.Errorf("the charge under way: %v", err)
			return
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("the charge under way got %d", res.StatusCode)
		}
	})
	await(t, "the charge is under way", func() bool { return len(locks(t, clients)) == 1 })
	must(t, p.Signal(syscall.SIGTERM))
	wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	<-p.Done()
	if p.ExitCode() != 0 {
		t.Error(p.Err())
	}
	if keys := locks(t, clients); len(keys) != 0 {
		t.Errorf("locks are left: %q", keys)
	}
}

func TestStartErrors(t *testing.T) {
	taken := startService(t, "-nodes=1")
	api, telemetry := strings.TrimPrefix(taken.api, "http://"), strings.TrimPrefix(taken.telemetry, "http://")
	for name, c := range map[string]struct{ args, want string }{
		"taken API port":     {"-listen=" + api, "-listen"},
		"taken metrics port": {"-web.listen-address=" + telemetry, "--web.listen-address"},
		"web config":         {"-web.config.file=/nowhere.yml", "/nowhere.yml"},
		"log level":          {"-log.level=loud", "loud"},
		"fleet URL":          {"-fleet-url=http://user:s3cret@x", "WithFleetURL"},
		"redis URL":          {"-redis=http://user:s3cret@x", "redis://"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := parseFlags([]string{"-listen=127.0.0.1:0", "-nodes=1", c.args}, io.Discard)
			must(t, err)
			err = run(t.Context(), cfg, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"extra"}, {"-nodes=0"}, {"-nodes=10"}, {"-charge-takes=-1s"},
		{"-web.listen-address=x"}, {"-nothing"}} {
		if _, err := parseFlags(args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	t.Setenv("REDIS_URLS", "redis://a:1, redis://b:2,")
	cfg, err := parseFlags(nil, io.Discard)
	if err != nil || len(cfg.redis) != 2 || cfg.redis[1] != "redis://b:2" {
		t.Errorf("%v, %v", cfg.redis, err)
	}
	var usage strings.Builder
	_, _ = parseFlags([]string{"-h"}, &usage)
	contains(t, usage.String(), "REDIS_URLS", "-web.config.file", "-listen")
}

package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/server"
)

func TestServe(t *testing.T) {
	r := serve(t, server.Web{Addresses: []string{"127.0.0.1:0", "localhost:0", ":0"}},
		newExporter(t, exporter.WithState(fixed{})))
	if len(r.urls) != 3 || !strings.HasPrefix(r.urls[2], "http://localhost:") {
		t.Errorf("URLs are %v", r.urls)
	}
	for _, url := range r.urls {
		res, err := r.client.Get(url + "/readyz")
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", url, res.StatusCode)
		}
	}
	if err := r.server.Serve(t.Context(), server.Web{}); !errors.Is(err, server.ErrServed) {
		t.Errorf("a second Serve: %v", err)
	}
	r.stop()
	must(t, r.ended(t))
	if _, err := r.client.Get(r.urls[0] + "/healthz"); err == nil {
		t.Error("it still answers")
	}
}

// TestReadyOnlyWhileServing asks the handler itself, as a probe on another server would.
func TestReadyOnlyWhileServing(t *testing.T) {
	e := newExporter(t)
	if code, text := get(e, "/readyz"); code != 503 || text != "not ready\nserver: not listening yet\n" {
		t.Errorf("before Serve: %d %q", code, text)
	}
	r := serve(t, server.Web{}, newExporter(t))
	if code, _ := get(r.exporter, "/readyz"); code != 200 {
		t.Errorf("while serving: %d", code)
	}
	r.stop()
	must(t, r.ended(t))
	if code, text := get(r.exporter, "/readyz"); code != 503 || text != "not ready\nserver: shutting down\n" {
		t.Errorf("after Serve: %d %q", code, text)
	}
}

// TestShutdown: streams end, a request under way is answered, Serve returns nil.
func TestShutdown(t *testing.T) {
	release, scraping := make(chan struct{}), make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectorFunc(func(chan<- prometheus.Metric) {
		close(scraping)
		<-release
	}))
	r := serve(t, server.Web{}, newExporter(t, exporter.WithGatherer(registry), exporter.WithState(fixed{})),
		server.WithShutdownTimeout(30*time.Second))
	events := r.stream(t)
	await(t, "the stream begins", func() bool { return strings.HasPrefix(<-events, "data: ") })
	answered := make(chan int, 1)
	var scrape sync.WaitGroup
	defer scrape.Wait()
	scrape.Go(func() {
		code, _ := r.get(t, "/metrics")
		answered <- code
	})
	<-scraping
	r.stop()
	for range events {
	}
	if code, _ := get(r.exporter, "/readyz"); code != 503 {
		t.Errorf("/readyz says %d while shutting down", code)
	}
	select {
	case err := <-r.result:
		t.Fatalf("Serve returned %v before the request was answered", err)
	default:
	}
	close(release)
	if code := <-answered; code != 200 {
		t.Errorf("the request under way got %d", code)
	}
	must(t, r.ended(t))
}

// TestShutdownIsBounded: a request that never ends is cut off.
func TestShutdownIsBounded(t *testing.T) {
	release, scraping, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectorFunc(func(chan<- prometheus.Metric) {
		defer close(over)
		close(scraping)
		<-release
	}))
	r := serve(t, server.Web{}, newExporter(t, exporter.WithGatherer(registry), exporter.WithScrapeTimeout(time.Hour)),
		server.WithShutdownTimeout(20*time.Millisecond))
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		if res, err := r.client.Get(r.urls[0] + "/metrics"); err == nil {
			_ = res.Body.Close()
			t.Error("the request was answered")
		}
	}()
	<-scraping
	r.stop()
	if err := r.ended(t); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve returned %v", err)
	}
	select {
	case <-cut:
	case <-time.After(30 * time.Second):
		t.Error("the connection is still open")
	}
	close(release)
	<-over
	<-cut
}

// TestDrainDelay: during the delay everything but readiness still answers.
func TestDrainDelay(t *testing.T) {
	r := serve(t, server.Web{}, newExporter(t), server.WithDrainDelay(time.Second))
	r.stop()
	await(t, "/readyz says no", func() bool {
		code, _ := get(r.exporter, "/readyz")
		return code == 503
	})
	if code, _ := r.get(t, "/healthz"); code != 200 {
		t.Errorf("/healthz says %d during the delay", code)
	}
	if code, _ := r.get(t, "/readyz"); code != 503 {
		t.Errorf("/readyz says %d during the delay", code)
	}
	must(t, r.ended(t))
}

func TestServeEndsAtOnceWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, newServer(t, newExporter(t)).Serve(ctx, server.Web{Addresses: []string{"127.0.0.1:0"}}))
}

func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	first := free.Addr().String()
	err = newServer(t, newExporter(t)).Serve(t.Context(), server.Web{Addresses: []string{first, taken.Addr().String()}})
	if !errors.Is(err, server.ErrListen) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("error is %v", err)
	}
	contains(t, err.Error(), taken.Addr().String(), "stop what listens there", "--web.listen-address")
	again, err := net.Listen("tcp", first) // the address that was bound first is released
	must(t, err)
	_ = again.Close()
}

func TestBadAddresses(t *testing.T) {
	for _, a := range []string{"", "localhost", "127.0.0.1:", "127.0.0.1:70000", ":-1", "[::1", "1:2:3", "http://x:1/",
		"256.256.256.256:1"} {
		err := newServer(t, newExporter(t)).Serve(t.Context(), server.Web{Addresses: []string{a}})
		if !errors.Is(err, server.ErrListen) {
			t.Errorf("%q: %v", a, err)
		}
	}
}

func TestBadWebConfig(t *testing.T) {
	for name, path := range map[string]string{
		"unknown file":  t.TempDir() + "/none.yml",
		"not YAML":      file(t, "a.yml", "}{"),
		"unknown field": file(t, "b.yml", "basic_auth_user:\n  a: b\n"),
		"no cert":       file(t, "c.yml", "tls_server_config:\n  cert_file: x.pem\n  key_file: y.pem\n"),
		"no hash":       file(t, "d.yml", "basic_auth_users:\n  anna: plain-s3cret\n"),
	} {
		bound := false
		err := newServer(t, newExporter(t)).Serve(t.Context(),
			server.Web{Addresses: []string{"127.0.0.1:0"}, ConfigFile: path, Ready: func([]string) { bound = true }})
		if !errors.Is(err, server.ErrWebConfig) || !strings.Contains(err.Error(), path) || bound {
			t.Errorf("%s: listened %v, error %v", name, bound, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error shows a password: %v", name, err)
		}
	}
}

func TestTLSAndBasicAuth(t *testing.T) {
	config := file(t, "web.yml", "tls_server_config:\n  cert_file: "+file(t, "cert.pem", certificate(t).cert)+
		"\n  key_file: "+file(t, "key.pem", certificate(t).key)+"\nbasic_auth_users:\n  anna: "+hashOfOpensesame+
		"\n")
	r := serve(t, server.Web{Addresses: []string{"127.0.0.1:0", "127.0.0.1:0"}, ConfigFile: config},
		newExporter(t, exporter.WithState(fixed{})))
	r.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: certificate(t).pool}
	for _, url := range r.urls {
		if !strings.HasPrefix(url, "https://127.0.0.1:") {
			t.Errorf("URL is %s", url)
		}
		for password, want := range map[string]int{"opensesame": 200, "wrong": 401, "": 401} {
			req, err := http.NewRequest(http.MethodGet, url+"/metrics", nil)
			must(t, err)
			if password != "" {
				req.SetBasicAuth("anna", password)
			}
			res, err := r.client.Do(req)
			must(t, err)
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s with password %q: %d, want %d", url, password, res.StatusCode, want)
			}
		}
	}
	r.stop()
	must(t, r.ended(t))
}

// TestConnectionsOneAfterAnother reuses a connection: the deadline of one answer must not apply to the next.
func TestConnectionsOneAfterAnother(t *testing.T) {
	var dials atomic.Int32
	r := serve(t, server.Web{}, newExporter(t, exporter.WithState(fixed{})))
	r.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn,
		error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	for range 3 {
		for _, path := range []string{"/", "/healthz", "/metrics", "/debug/locks", "/none"} {
			r.get(t, path)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections for requests one after another", n)
	}
}

func TestFlags(t *testing.T) {
	args := []string{"--web.listen-address=:1", "--web.listen-address", "localhost:2", "--web.config.file=c.yml"}
	var p, s server.Web
	pf := pflag.NewFlagSet("test", pflag.ContinueOnError)
	own := flag.NewFlagSet("test", flag.ContinueOnError)
	p.Register(own)
	pf.AddGoFlagSet(own)
	must(t, pf.Parse(args))
	sf := flag.NewFlagSet("test", flag.ContinueOnError)
	sf.SetOutput(io.Discard)
	s.Register(sf)
	must(t, sf.Parse(args))
	for name, w := range map[string]server.Web{"pflag": p, "flag": s} {
		if strings.Join(w.Addresses, " ") != ":1 localhost:2" || w.ConfigFile != "c.yml" {
			t.Errorf("%s: %+v", name, w)
		}
	}
	if err := pf.Parse([]string{"--web.listen-address=nonsense"}); err == nil {
		t.Error("no error for a bad address")
	}
	contains(t, pf.FlagUsages(), "--web.listen-address host:port", server.DefaultAddress, "--web.config.file file")
	var usage strings.Builder
	sf.SetOutput(&usage)
	sf.PrintDefaults()
	contains(t, usage.String(), "-web.listen-address host:port", server.DefaultAddress)
}

func TestInvalidOptions(t *testing.T) {
	e := newExporter(t)
	for name, build := range map[string]func() (*server.Server, error){
		"nil exporter":     func() (*server.Server, error) { return server.New(nil) },
		"nil option":       func() (*server.Server, error) { return server.New(e, nil) },
		"shutdown timeout": func() (*server.Server, error) { return server.New(e, server.WithShutdownTimeout(0)) },
		"drain delay":      func() (*server.Server, error) { return server.New(e, server.WithDrainDelay(-1)) },
	} {
		if s, err := build(); !errors.Is(err, server.ErrInvalidOption) || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := server.New(e, server.WithLogger(nil)); err != nil {
		t.Errorf("without a logger: %v", err)
	}
}

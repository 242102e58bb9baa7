package compose_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/otlp/otlptest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// fleet is the stack as it runs here: every command is the one of compose.yaml, with
// the addresses of this machine in the place of the names of services.
type fleet struct {
	t     *testing.T
	stack stack
	here  map[string]string // host:port here by host:port there

	redis                    []*redisproc.Server
	spans                    *otlptest.Receiver
	orders                   []*program
	lockscope, load          *program
	alertmanager, prometheus *program
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, stack: loadStack(t), here: make(map[string]string), spans: otlptest.NewHTTP(t)}
	f.here["tempo:4318"] = strings.TrimPrefix(f.spans.URL, "http://")
	f.redis = nodes(t, f.stack)
	for i, address := range addresses(f.redis) {
		f.here[fmt.Sprintf("redis-%d:6379", i+1)] = address
	}
	f.init()
	for _, name := range []string{"orders-1", "orders-2"} {
		p := f.own(name)
		f.orders = append(f.orders, p)
		f.here[name+":8080"] = bare(p.serving()["api"])
		f.here[name+":17379"] = bare(p.serving()["metrics"])
	}
	f.lockscope = f.own("lockscope", "--interval=1s", "--confirm-after=50ms")
	f.here["lockscope:17379"] = bare(f.lockscope.serving()["urls"].([]any)[0])
	f.load = f.own("load", "-report=1s")
	f.startAlertmanager()
	f.startPrometheus()
	return f
}

// init runs the one-shot service, as at each start of the stack, and returns what it says.
func (f *fleet) init() string {
	f.t.Helper()
	p := f.own("init")
	<-p.Done()
	if status := p.ExitCode(); status != 0 {
		f.t.Fatalf("init: exit %d: nothing that depends on it would start\n%s", status, p.Log())
	}
	return p.Log()
}

// bare is the host:port of a URL.
func bare(logged any) string {
	u, err := url.Parse(logged.(string))
	if err != nil {
		return err.Error()
	}
	return u.Host
}

// translate puts addresses of this machine into the place of the stack's.
func (f *fleet) translate(text string) string {
	return address.ReplaceAllStringFunc(text, func(there string) string {
		if here, ok := f.here[there]; ok {
			return here
		}
		return there
	})
}

// own starts a program of ours on free ports, with its flags and variables.
func (f *fleet) own(name string, more ...string) *program {
	f.t.Helper()
	svc := f.stack.Services[name]
	var args []string
	for _, arg := range svc.Command {
		args = append(args, f.translate(listenFlag.ReplaceAllString(arg, "$1=127.0.0.1:0")))
	}
	return start(f.t, f.environment(name), programs+svc.Build.Target, append(args, more...)...)
}

// environment are the variables of a service.
func (f *fleet) environment(name string) map[string]string {
	env := make(map[string]string)
	for variable, value := range f.stack.Services[name].Environment {
		env[variable] = f.translate(value)
	}
	return env
}

// theirs starts a program of others, with the flags it has in its container.
func (f *fleet) theirs(name, config, listen string, binaries ...string) *program {
	f.t.Helper()
	data := f.t.TempDir()
	var args []string
	for _, arg := range f.stack.Services[name].Command {
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case flag == configFlag:
			arg = flag + "=" + config
		case strings.HasPrefix(flag, "--storage."):
			arg = flag + "=" + data
		}
		args = append(args, arg)
	}
	return start(f.t, nil, debian(f.t, binaries...), append(args, "--web.listen-address="+listen)...)
}

func (f *fleet) startAlertmanager() {
	f.t.Helper()
	config, err := filepath.Abs(f.stack.Services["alertmanager"].onHost(f.t, "/etc/alertmanager/alertmanager.yml"))
	must(f.t, err)
	f.here["alertmanager:9093"] = freeAddress(f.t)
	f.alertmanager = f.theirs("alertmanager", config, f.here["alertmanager:9093"], "prometheus-alertmanager",
		"alertmanager")
}

var (
	evaluated = regexp.MustCompile(`\binterval: \d+[smh]\b`)
	pending   = regexp.MustCompile(`\bfor: \d+[smh]\b`)
	scrapes   = regexp.MustCompile(`_interval: \S+`)
)

// startPrometheus gives it the stack's configuration and rules, only in more of a
// hurry: it scrapes and evaluates each second, and alerts at once.
func (f *fleet) startPrometheus() {
	f.t.Helper()
	f.here["localhost:9090"] = freeAddress(f.t)
	config := prometheusHere(f.t, f.stack)
	text := scrapes.ReplaceAllString(f.translate(read(f.t, config)), "_interval: 1s")
	write(f.t, config, text)
	rules, err := filepath.Glob(filepath.Dir(config) + "/rules/lockscope/*.yaml")
	must(f.t, err)
	for _, path := range rules {
		text := pending.ReplaceAllString(evaluated.ReplaceAllString(read(f.t, path), "interval: 1s"), "for: 0s")
		must(f.t, os.WriteFile(path, []byte(text), 0o644))
	}
	f.prometheus = f.theirs("prometheus", config, f.here["localhost:9090"], "prometheus")
}

func (f *fleet) api(path string) string {
	return "http://" + f.here["localhost:9090"] + "/api/v1/" + path
}

// TestStack runs all of the stack that can run without containers, and Grafana and
// Tempo, for which a receiver of spans stands in.
func TestStack(t *testing.T) {
	f := startFleet(t)
	f.checkTargets()
	f.checkRules()
	traced := f.checkExemplars()
	f.spans.Await(t, "the trace of an exemplar", func(all []otlptest.Span) bool {
		return slices.ContainsFunc(all, func(s otlptest.Span) bool { return traced[hexID(s.TraceId)] })
	})
	f.checkResources()
	f.load.await("charges", func() bool { return strings.Contains(f.load.Log(), "200 OK: ") })
	f.checkPause()
	f.checkLeak()
	f.checkQuorum()
	for _, p := range append(f.orders, f.load, f.lockscope, f.prometheus, f.alertmanager) {
		p.terminate()
	}
}

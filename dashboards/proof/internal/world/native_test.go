package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/dashboards"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// forms are the scrape jobs: one process, whose histograms Prometheus stores in one form or the other, or in both.
var forms = []string{"classic", "native", "both"}

// plain serves histograms without their native buckets, as a process without instrument.WithNativeHistograms.
type plain struct{ prometheus.Gatherer }

func (g plain) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.Gatherer.Gather()
	for _, f := range all {
		for _, m := range f.Metric {
			if h := m.Histogram; h != nil {
				m.Histogram = &dto.Histogram{SampleCount: h.SampleCount, SampleSum: h.SampleSum, Bucket: h.Bucket}
			}
		}
	}
	return all, err
}

// twice serves the series of classic histograms beside the native ones, as a Prometheus stores them that is configured to
// keep both. Prometheus 2.42 cannot be told.
type twice struct{ prometheus.Gatherer }

func (g twice) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.Gatherer.Gather()
	for _, f := range all {
		if f.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		made := make(map[string]*dto.MetricFamily)
		add := func(suffix string, m *dto.Metric, v float64, more ...*dto.LabelPair) {
			if made[suffix] == nil {
				made[suffix] = &dto.MetricFamily{Name: new(f.GetName() + suffix), Type: dto.MetricType_COUNTER.Enum()}
			}
			made[suffix].Metric = append(made[suffix].Metric, &dto.Metric{
				Label: append(m.Label[:len(m.Label):len(m.Label)], more...), Counter: &dto.Counter{Value: &v}})
		}
		for _, m := range f.Metric {
			add("_count", m, float64(m.Histogram.GetSampleCount()))
			add("_sum", m, m.Histogram.GetSampleSum())
			for _, b := range m.Histogram.Bucket {
				le := strconv.FormatFloat(b.GetUpperBound(), 'f', -1, 64)
				if !strings.Contains(le, ".") {
					le += ".0"
				}
				add("_bucket", m, float64(b.GetCumulativeCount()), &dto.LabelPair{Name: new("le"), Value: &le})
			}
			add("_bucket", m, float64(m.Histogram.GetSampleCount()), &dto.LabelPair{Name: new("le"), Value: new("+Inf")})
		}
		for _, f := range made {
			all = append(all, f)
		}
	}
	return all, err
}

// TestNativeHistograms: rules and boards show the same of a process, however Prometheus stores its histograms. Of its
// commands one in fifty times out.
func TestNativeHistograms(t *testing.T) {
	w := &World{cfg: Config{Rules: dashboards.FS(), Minute: 2 * time.Second, Tell: t.Logf}, dir: t.TempDir()}
	defer func() { must(t, w.Close()) }()
	targets := make(map[string]string)
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	defer loops.Wait()
	defer stop()
	registry := prometheus.NewRegistry()
	loops.Go(takes(ctx, t, registry))
	for form, served := range map[string]prometheus.Gatherer{"classic": plain{registry}, "native": registry, "both": twice{registry}} {
		server := httptest.NewServer(promhttp.HandlerFor(served, promhttp.HandlerOpts{}))
		defer server.Close()
		targets[form] = strings.TrimPrefix(server.URL, "http://")
	}
	must(t, w.startNative(ctx, targets))
	ask := func(expr string) map[string]float64 { return answer(t, w.prometheus.url, expr) }
	const used = `job_backend:distributed_lock_nodes_usable:sum`
	for deadline := time.Now().Add(2 * time.Minute); len(ask(used+" offset 30s")) < len(forms); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is recorded")
		}
	}
	for _, form := range forms {
		if got := ask(used + fmt.Sprintf(`{job=%q}`, form)); len(got) != 1 || got[form] != 5 {
			t.Errorf("%s: usable nodes of 5: %v", form, got)
		}
		if got := ask(fmt.Sprintf(`ALERTS{job=%q,alertname=~".*(Quorum|NodeDown|Stalled|Burn).*"}`, form)); len(got) > 0 {
			t.Errorf("%s: alerts: %v", form, got)
		}
	}
	for expr, tolerance := range map[string]float64{
		`sum by (job) (job_resource:distributed_lock_waits:rate5m)`:                                                               .3,
		`sum by (job) (job_resource_le:distributed_lock_wait_seconds_bucket:rate5m{le="0.1"})`:                                    .3,
		`sum by (job) (job_resource_le:distributed_lock_wait_seconds_bucket:rate5m{le="+Inf"})`:                                   .3,
		`sum by (job) (max_over_time(job_resource:distributed_lock_waits:rate5m{resource="once"}[1m]))`:                           .3,
		`sum by (job) (max_over_time(job_resource_le:distributed_lock_wait_seconds_bucket:rate5m{resource="once",le="5.0"}[1m]))`: .3,
		`sum by (job) (job_resource:distributed_lock_holds:rate5m)`:                                                               .3,
		`max by (job) (job_resource:distributed_lock_wait_seconds:p99_rate5m)`:                                                    9,
		`max by (job) (job_backend_lock_node:distributed_lock_node_duration_seconds:p99_rate5m)`:                                  9,
		`avg by (job) (job_instance_backend_lock_node:distributed_lock_node_failures_per_command:ratio_rate2m)`:                   9,
	} {
		got := ask(expr)
		for _, form := range forms[1:] {
			if ratio := got[form] / got["classic"]; !(ratio > 1/(1+tolerance) && ratio < 1+tolerance) {
				t.Errorf("%s differs: %v", expr, got)
			}
		}
	}
	shownAlike(t, ask)
}

// shownAlike runs every query of the boards for each form.
func shownAlike(t *testing.T, ask func(string) map[string]float64) {
	reference := regexp.MustCompile(`\$\{?(\w+)(:\w+)?\}?`)
	asked := 0
	for _, expr := range expressions(t) {
		if !strings.Contains(expr, "histogram_") || strings.Contains(expr, "held_since") { // nothing is held for long
			continue
		}
		asked++
		shows := make(map[string]bool)
		for _, form := range forms {
			filled := reference.ReplaceAllStringFunc(expr, func(ref string) string {
				switch name := reference.FindStringSubmatch(ref)[1]; name {
				case "job":
					return form
				case "__range", "__rate_interval", "__interval":
					return "10s"
				default:
					return ".*"
				}
			})
			for _, v := range ask(filled) {
				shows[form] = shows[form] || !math.IsNaN(v)
			}
		}
		if shows["native"] != shows["classic"] || shows["both"] != shows["classic"] {
			t.Errorf("%v of %s", shows, expr)
		}
	}
	if asked < 15 {
		t.Errorf("only %d queries of boards are about histograms", asked)
	}
}

// expressions lists the queries of all boards.
func expressions(t *testing.T) (all []string) {
	names, err := fs.Glob(dashboards.FS(), "grafana/*.json")
	must(t, err)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if expr, ok := v["expr"].(string); ok {
				all = append(all, expr)
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	for _, name := range names {
		text, err := fs.ReadFile(dashboards.FS(), name)
		must(t, err)
		var board any
		must(t, json.Unmarshal(text, &board))
		walk(board)
	}
	return all
}

// takes acquires and releases on five nodes, of whose replies one in fifty is lost.
func takes(ctx context.Context, t *testing.T, registry *prometheus.Registry) func() {
	var nodes []driver.Node
	for i := range 5 {
		f := locktest.NewFakeServer(fmt.Sprintf("redis-%d", i))
		t.Cleanup(f.Close)
		nodes = append(nodes, engine.Async(f.Connect(uint64(i), locktest.Faults{LoseReply: .02})))
	}
	e, err := engine.NewEngine(nodes)
	must(t, err)
	l, err := instrument.Wrap(e, instrument.WithRegisterer(registry), instrument.WithNativeHistograms())
	must(t, err)
	return func() {
		defer func() { must(t, errors.Join(l.Flush(context.Background()), e.Close())) }()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		late := time.After(20 * time.Second)
		for {
			select {
			case <-ctx.Done():
				return
			case <-late: // a count that begins at 1: no rate shows it
				if lease, err := l.Acquire(ctx, "once"); err == nil {
					_ = lease.Release(ctx)
				}
			case <-tick.C:
			}
			if lease, err := l.Acquire(ctx, "cart"); err == nil {
				_ = lease.Release(ctx)
			}
		}
	}
}

// startNative starts a Prometheus that stores native histograms.
func (w *World) startNative(ctx context.Context, targets map[string]string) error {
	bin, err := find("prometheus", "prometheus")
	if err != nil {
		return err
	}
	if err := w.writeRules(); err != nil {
		return err
	}
	config := fmt.Sprintf("global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nrule_files: [%q]\nscrape_configs:\n",
		filepath.Join(w.dir, "rules", "*.yaml"))
	for job, target := range targets {
		config += fmt.Sprintf("  - {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, target)
	}
	file, err := w.write("prometheus.yml", []byte(config))
	if err != nil {
		return err
	}
	w.prometheus.Process, err = w.run("prometheus", bin, "--config.file="+file, "--enable-feature=native-histograms",
		"--storage.tsdb.path="+filepath.Join(w.dir, "series"), "--web.listen-address=127.0.0.1:0",
		"--query.lookback-delta="+(5*w.cfg.Minute).String())
	if err != nil {
		return err
	}
	w.prometheus.url, err = w.listening(ctx, w.prometheus)
	return err
}

// answer maps the job of each series to its value.
func answer(t *testing.T, base, expr string) map[string]float64 {
	t.Helper()
	resp, err := http.PostForm(base+"/api/v1/query", url.Values{"query": {expr}})
	must(t, err)
	defer resp.Body.Close()
	var got struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  []any
			}
		}
	}
	must(t, json.NewDecoder(resp.Body).Decode(&got))
	if got.Error != "" {
		t.Fatalf("%s: %s", expr, got.Error)
	}
	all := make(map[string]float64)
	for _, r := range got.Data.Result {
		if len(r.Value) == 2 {
			v, _ := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
			if old, ok := all[r.Metric["job"]]; !ok || math.IsNaN(old) {
				all[r.Metric["job"]] = v
			}
		}
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// configuration has the evaluation interval of the shipped example. Every group of the shipped rules has its own.
const configuration = `
global:
  scrape_interval: %[1]s
  scrape_timeout: %[1]s
  evaluation_interval: 1m
rule_files:
  - %[2]q
alerting:
  alertmanagers:
    - static_configs:
        - targets: [%[3]q]
scrape_configs:
  - job_name: %[4]s
    static_configs:
      - targets: %[5]s
  - job_name: %[6]s
    static_configs:
      - targets: [%[7]q]
`

// startPrometheus keeps samples for an hour at most.
func (w *World) startPrometheus(ctx context.Context) error {
	bin, err := find("prometheus", "prometheus")
	if err != nil {
		return err
	}
	if err := w.writeRules(); err != nil {
		return err
	}
	host := func(url string) string { return strings.TrimPrefix(url, "http://") }
	var targets []string
	if w.demo.Process != nil {
		targets = append(targets, host(w.demo.url))
	}
	for _, s := range w.services {
		targets = append(targets, host(s.url))
	}
	list, err := json.Marshal(targets)
	if err != nil {
		return err
	}
	every := w.scrapes()
	file, err := w.write("prometheus.yml",
		fmt.Appendf(nil, configuration, model.Duration(every), filepath.Join(w.dir, "rules", "*.yaml"),
			host(w.manager.url),
			JobServices, list, JobLockscope, host(w.lockscope.url)))
	if err != nil {
		return err
	}
	args := []string{"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(w.dir, "series"),
		"--storage.tsdb.retention.time=1h", "--storage.tsdb.retention.size=256MB", "--enable-feature=" + w.features(),
		"--web.listen-address=127.0.0.1:0"}
	if w.cfg.Minute > 0 {
		args = append(args, "--query.lookback-delta="+model.Duration(5*w.cfg.Minute).String())
	}
	if w.prometheus.Process, err = w.run("prometheus", bin, args...); err != nil {
		return err
	}
	w.prometheus.url, err = w.listening(ctx, w.prometheus)
	w.cfg.Tell("Prometheus on %s, scrapes every %v", w.prometheus.url, every)
	return err
}

func (w *World) features() string {
	if w.cfg.Native {
		return "exemplar-storage,native-histograms"
	}
	return "exemplar-storage"
}

// scrapes returns the interval: a second, or a quarter of a minute if minutes are short.
func (w *World) scrapes() time.Duration {
	if w.cfg.Minute > 0 {
		return w.cfg.Minute / 4
	}
	return time.Second
}

const (
	readyEvery = 50 * time.Millisecond
	askLimit   = 10 * time.Second
)

// awaitReady asks until the answer is yes, the program ends, or ctx ends.
func awaitReady(ctx context.Context, p program, url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: askLimit}
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if isReady(ctx, client, url+"/-/ready") {
			return nil
		}
		if err := p.Err(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", url, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func isReady(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

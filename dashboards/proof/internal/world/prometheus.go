package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// configuration has the evaluation interval of the shipped example; every group of
// the shipped rules has one of its own.
const configuration = `
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 1m
rule_files:
  - %q
alerting:
  alertmanagers:
    - static_configs:
        - targets: [%q]
scrape_configs:
  - job_name: %s
    static_configs:
      - targets: [%q, %q]
  - job_name: %s
    static_configs:
      - targets: [%q]
`

// startPrometheus keeps what it scrapes for an hour at most.
func (w *World) startPrometheus(ctx context.Context) error {
	bin, err := find("prometheus", "prometheus")
	if err != nil {
		return err
	}
	if err := w.writeRules(); err != nil {
		return err
	}
	host := func(url string) string { return strings.TrimPrefix(url, "http://") }
	file, err := w.write("prometheus.yml", fmt.Appendf(nil, configuration, filepath.Join(w.dir, "rules", "*.yaml"), host(w.manager.url),
		JobServices, host(w.demo.url), host(w.bill.url), JobLockscope, host(w.lockscope.url)))
	if err != nil {
		return err
	}
	w.prometheus.Process, err = w.run("prometheus", bin, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(w.dir, "series"),
		"--storage.tsdb.retention.time=1h", "--storage.tsdb.retention.size=256MB", "--enable-feature=exemplar-storage",
		"--web.listen-address=127.0.0.1:0")
	if err != nil {
		return err
	}
	w.prometheus.url, err = w.listening(ctx, w.prometheus)
	w.cfg.Tell("Prometheus on %s, scrapes every second", w.prometheus.url)
	return err
}

const (
	readyEvery = 50 * time.Millisecond
	askLimit   = 10 * time.Second
)

// awaitReady asks until the answer is yes, the program ends, or ctx does.
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

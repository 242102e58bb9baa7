package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"

	"github.com/lockscope/lockscope/exporter"
)

const (
	pushTimeout = 10 * time.Second
	defaultJob  = "lockscope_scan"
)

// scanRegistry holds what a scrape of serve would show of the scanner.
func scanRegistry(s exporter.Snapshotter) (*prometheus.Registry, error) {
	reg := prometheus.NewRegistry()
	return reg, reg.Register(exporter.NewScanCollector(s))
}

// writeTextfile replaces path by the metrics of s, for node_exporter's textfile
// collector: it never sees half a file.
func writeTextfile(path string, s exporter.Snapshotter) error {
	reg, err := scanRegistry(s)
	if err == nil {
		err = prometheus.WriteToTextfile(path, reg)
	}
	if err != nil {
		return fmt.Errorf("--textfile: %w", err)
	}
	return nil
}

// gateway is a Pushgateway, with the credentials of its URL kept out of errors.
type gateway struct {
	base  string
	shown string
	user  *url.Userinfo
	job   string
}

var errBadGateway = errors.New("--pushgateway: not a URL of the form http://host:9091 (its text is withheld: it may " +
	"hold a password)")

func parseGateway(raw, job string) (*gateway, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" {
		return nil, errBadGateway
	}
	g := &gateway{user: u.User, job: job}
	u.User = nil
	g.base, g.shown = u.String(), u.Scheme+"://"+u.Host
	return g, nil
}

// push replaces what the gateway holds of this job.
func (g *gateway) push(ctx context.Context, s exporter.Snapshotter) error {
	reg, err := scanRegistry(s)
	if err != nil {
		return fmt.Errorf("--pushgateway: %w", err)
	}
	client := &http.Client{Timeout: pushTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	p := push.New(g.base, g.job).Gatherer(reg).Client(client)
	if g.user != nil {
		password, _ := g.user.Password()
		p = p.BasicAuth(g.user.Username(), password)
	}
	if err := p.PushContext(ctx); err != nil {
		return fmt.Errorf("--pushgateway %s: %w", g.shown, err)
	}
	return nil
}

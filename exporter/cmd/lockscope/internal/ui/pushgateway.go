package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
)

const pushTimeout = 10 * time.Second

// gateway is a Pushgateway, with the credentials of its URL kept out of errors.
type gateway struct {
	base  string
	shown string
	user  *url.Userinfo
	job   string
}

var errBadGateway = errors.New("--pushgateway: not a URL of the form http://host:9091 (its text is withheld: it may " +
	"hold a password)")

// parseGateway reads the value of --pushgateway. It connects to nothing.
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

// push replaces what the gateway has of this job and these labels.
func (g *gateway) push(ctx context.Context, metrics prometheus.Gatherer, labels prometheus.Labels) error {
	client := &http.Client{Timeout: pushTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	p := push.New(g.base, g.job).Gatherer(metrics).Client(client)
	for name, value := range labels {
		p = p.Grouping(name, value)
	}
	if g.user != nil {
		password, _ := g.user.Password()
		p = p.BasicAuth(g.user.Username(), password)
	}
	return p.PushContext(ctx)
}

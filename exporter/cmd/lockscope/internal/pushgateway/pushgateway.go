package pushgateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
)

const timeout = 10 * time.Second

// Gateway is a Pushgateway, with the credentials of its URL kept out of errors.
type Gateway struct {
	base  string
	shown string
	user  *url.Userinfo
	job   string
}

var errBadGateway = errors.New("--pushgateway: not a URL of the form http://host:9091 (its text is withheld: it may " +
	"hold a password)")

// Parse reads the value of --pushgateway. It connects to nothing.
func Parse(raw, job string) (*Gateway, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" {
		return nil, errBadGateway
	}
	g := &Gateway{user: u.User, job: job}
	u.User = nil
	g.base, g.shown = u.String(), u.Scheme+"://"+u.Host
	return g, nil
}

// Push replaces what the gateway has of this job and these labels, name and value in turn. It takes ten seconds at most.
func (g *Gateway) Push(ctx context.Context, metrics prometheus.Gatherer, labels ...string) error {
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	p := push.New(g.base, g.job).Gatherer(metrics).Client(client)
	for i := 0; i+1 < len(labels); i += 2 {
		p = p.Grouping(labels[i], labels[i+1])
	}
	if g.user != nil {
		password, _ := g.user.Password()
		p = p.BasicAuth(g.user.Username(), password)
	}
	if err := p.PushContext(ctx); err != nil {
		return fmt.Errorf("--pushgateway %s: %w", g.shown, err)
	}
	return nil
}

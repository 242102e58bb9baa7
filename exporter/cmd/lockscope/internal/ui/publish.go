package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	"github.com/prometheus/common/expfmt"
	"github.com/spf13/pflag"
)

// Publish says where a command that ends sends its metrics.
type Publish struct {
	textfile, url, job string

	gateway *gateway // nil: none
}

// Register adds the flags under a heading. what is whose metrics they are, job the default of the flag of that name.
func (p *Publish) Register(set *pflag.FlagSet, heading, what, job string) {
	set.StringVar(&p.textfile, "textfile", "", "write "+what+" to this `file`, for node_exporter")
	set.StringVar(&p.url, "pushgateway", "", "push "+what+" to this Pushgateway `URL` (http://host:9091)")
	set.StringVar(&p.job, "pushgateway-job", job, "`job` of the pushed metrics")
	Group(set, heading, "textfile", "pushgateway", "pushgateway-job")
}

// Validate reads the URL. It connects to nothing.
func (p *Publish) Validate() (err error) {
	if p.url != "" {
		p.gateway, err = parseGateway(p.url, p.job)
	}
	return err
}

// Send writes and pushes what the flags ask for, in ten seconds at most. The labels are those of all metrics: in a file
// each metric has them, on a gateway they name what is replaced.
func (p *Publish) Send(ctx context.Context, labels prometheus.Labels,
	metrics func(prometheus.Labels) (prometheus.Gatherer, error)) (errs []error) {
	add := func(flag string, labels prometheus.Labels, send func(prometheus.Gatherer) error) {
		g, err := metrics(labels)
		if err == nil {
			err = send(g)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s%w", flag, err))
		}
	}
	if p.textfile != "" {
		add("textfile: ", labels, func(g prometheus.Gatherer) error { return writeTextfile(p.textfile, g) })
	}
	if p.gateway != nil {
		add("pushgateway "+p.gateway.shown+": ", nil, func(g prometheus.Gatherer) error {
			return p.gateway.push(context.WithoutCancel(ctx), g, labels)
		})
	}
	return errs
}

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

const (
	// textfileMode lets node_exporter read the file as another user.
	textfileMode = 0o644
	// leftAfter is the age of a temporary file that nobody is still writing.
	leftAfter = time.Hour
)

// writeTextfile replaces the file by the metrics of g. A reader sees the old file or the new one, never a part; after an
// error the old file stays. It also removes temporary files that processes left beside it which died an hour ago or
// more. It may be called concurrently: the last call wins.
func writeTextfile(path string, g prometheus.Gatherer) error {
	text, err := encodeMetrics(g)
	if err != nil {
		return err
	}
	removeLeft(path)
	return replaceFile(path, text)
}

func encodeMetrics(g prometheus.Gatherer) ([]byte, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// replaceFile writes and syncs a file beside path, whose name node_exporter does not read, and renames that.
func replaceFile(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPrefix(path)+"*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(textfileMode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

const tempSuffix = ".tmp"

func tempPrefix(path string) string { return "." + filepath.Base(path) + "." }

// leftName is the end of the names that replaceFile gives.
var leftName = regexp.MustCompile(`^[0-9]+\.tmp$`)

// removeLeft removes what processes left that died while they wrote. What it cannot remove does no harm.
func removeLeft(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		end, ours := strings.CutPrefix(e.Name(), tempPrefix(path))
		if !ours || !leftName.MatchString(end) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

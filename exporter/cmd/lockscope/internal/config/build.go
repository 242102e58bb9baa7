package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/notify"
	"github.com/lockscope/lockscope/scanner/report"
)

// Target says how a group's servers are reached. It reads the files of its secrets.
func (f *File) Target(g *FileGroup) (c servers.RedisConfig, err error) {
	c = servers.RedisConfig{
		URLs: g.Redis, Username: g.Username, Cluster: g.Cluster, SentinelMaster: g.SentinelMaster,
		TLS: f.tls(g),
	}
	err = f.read(secret{"password_file", g.PasswordFile, &c.Password},
		secret{"sentinel_password_file", g.SentinelPasswordFile, &c.SentinelPassword})
	return c, err
}

func (f *File) tls(g *FileGroup) servers.TLS {
	return servers.TLS{CA: f.file(g.TLS.CA), Cert: f.file(g.TLS.Cert), Key: f.file(g.TLS.Key),
		SkipVerify: g.TLS.InsecureSkipVerify}
}

// secret is a field of the configuration that names a file, and what is to have its text.
type secret struct {
	field, path string
	to          *string
}

// read reads the files that are named. Its error has the field.
func (f *File) read(secrets ...secret) (err error) {
	for _, s := range secrets {
		if s.path == "" {
			continue
		}
		if *s.to, err = servers.ReadSecret(f.file(s.path)); err != nil {
			return fmt.Errorf("%s: %w", s.field, err)
		}
	}
	return nil
}

// PatternsOf are a group's patterns: its own, or those of the file. None: the default.
func (f *File) PatternsOf(g *FileGroup) []Pattern {
	if len(g.Patterns) > 0 {
		return g.Patterns
	}
	return f.Patterns
}

// Globs are the glob patterns that find the keys.
func Globs(patterns []Pattern) (globs []string) {
	for _, p := range patterns {
		if glob := p.policy().Pattern; !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	return globs
}

func (p *Pattern) policy() report.Policy {
	glob, name := p.Pattern, p.Pattern
	if glob == "" {
		glob, name = scanner.PrefixPattern(p.Prefix), p.Prefix+"*"
	}
	return report.Policy{
		Name: cmp.Or(p.Name, name), Pattern: glob, Team: p.Team, MaxTTL: time.Duration(p.MaxTTL), MaxHold: time.Duration(p.MaxHold),
		MaxTerm: time.Duration(p.MaxTerm), NoTTLAllowed: p.NoTTLAllowed,
	}
}

// Options are what the file says of a group's locks.
func (f *File) Options(g *FileGroup) []scanner.Option {
	var policies []report.Policy
	for _, p := range f.PatternsOf(g) {
		if p.Name != "" || p.Team != "" || p.MaxTTL != 0 || p.MaxHold != 0 || p.MaxTerm != 0 || p.NoTTLAllowed {
			policies = append(policies, p.policy())
		}
	}
	var exclusions []report.Exclusion
	for _, e := range append(slices.Clone(f.Exclusions), g.Exclusions...) {
		exclusions = append(exclusions, report.Exclusion{Pattern: e.Pattern, Until: e.Until.Time, Reason: e.Reason})
	}
	return []scanner.Option{scanner.WithPolicies(policies...), scanner.WithExclusions(exclusions...)}
}

// Notifiers makes the notifiers of a group's findings; resend is the time between two reports.
func (f *File) Notifiers(g *FileGroup, resend time.Duration, logger *slog.Logger) ([]scanner.Notifier, error) {
	var all []scanner.Notifier
	for i := range f.Notify.Alertmanagers {
		a := &f.Notify.Alertmanagers[i]
		if len(a.Groups) > 0 && !slices.Contains(a.Groups, g.Name) {
			continue
		}
		one, err := f.alertmanager(a, resend, logger)
		if err != nil {
			return nil, f.Problem(fmt.Sprintf("notify.alertmanagers[%d]", i), err)
		}
		all = append(all, one)
	}
	for i := range f.Notify.Webhooks {
		w := &f.Notify.Webhooks[i]
		if len(w.Groups) > 0 && !slices.Contains(w.Groups, g.Name) {
			continue
		}
		one, err := f.webhook(w)
		if err != nil {
			return nil, f.Problem(fmt.Sprintf("notify.webhooks[%d]", i), err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (f *File) alertmanager(a *Alertmanager, resend time.Duration, logger *slog.Logger) (scanner.Notifier, error) {
	access, err := f.access(&a.Credentials)
	if err != nil {
		return nil, err
	}
	severity := make(map[inspect.Class]string, len(a.Severity))
	for class, s := range a.Severity {
		severity[inspect.Class(class)] = s
	}
	return notify.NewAlertmanager(notify.Alertmanager{
		URLs: a.URLs, Interval: resend, Labels: a.Labels, Severity: severity, Logger: logger, Access: access,
	})
}

func (f *File) webhook(w *Webhook) (scanner.Notifier, error) {
	access, err := f.access(&w.Credentials)
	if err != nil {
		return nil, err
	}
	c := notify.Webhook{URL: w.URL, Access: access}
	if err = f.read(secret{"url_file", w.URLFile, &c.URL}, secret{"secret_file", w.SecretFile, &c.Secret}); err != nil {
		return nil, err
	}
	if w.TemplateFile != "" {
		text, err := os.ReadFile(f.file(w.TemplateFile))
		if err != nil {
			return nil, fmt.Errorf("template_file: %w", err)
		}
		c.Template = string(text)
	}
	return notify.NewWebhook(c)
}

func (f *File) access(c *Credentials) (a notify.Access, err error) {
	a.Username = c.Username
	err = f.read(secret{"password_file", c.PasswordFile, &a.Password},
		secret{"bearer_token_file", c.BearerTokenFile, &a.BearerToken})
	return a, err
}

// Only is the file with one group of its own.
func (f *File) Only(g *FileGroup) *File {
	one := *f
	one.Groups = []FileGroup{*g}
	return &one
}

// Secrets are the files besides itself that the file names.
func (f *File) Secrets() (paths []string) {
	add := func(some ...string) {
		for _, path := range some {
			if path != "" && !slices.Contains(paths, f.file(path)) {
				paths = append(paths, f.file(path))
			}
		}
	}
	for _, g := range f.Groups {
		add(g.PasswordFile, g.SentinelPasswordFile, g.ZooKeeperAuthFile, g.TLS.CA, g.TLS.Cert, g.TLS.Key)
	}
	for _, a := range f.Notify.Alertmanagers {
		add(a.PasswordFile, a.BearerTokenFile)
	}
	for _, w := range f.Notify.Webhooks {
		add(w.URLFile, w.TemplateFile, w.SecretFile, w.PasswordFile, w.BearerTokenFile)
	}
	return paths
}

// NotifyFlags say where findings are sent.
type NotifyFlags struct {
	alertmanagers *ui.List
	webhooks      *ui.List
	labels        map[string]string
}

func (n *NotifyFlags) register(set *pflag.FlagSet) {
	n.alertmanagers, n.webhooks = ui.NewList("URL"), ui.NewList("URL")
	set.Var(n.alertmanagers, "alertmanager", "post findings to this Alertmanager (http://host:9093). Repeat "+
		"it for each member of a cluster")
	set.StringToStringVar(&n.labels, "label", nil,
		"label for each alert, as `name=value`. Repeat it for several. "+
			"Alertmanager can route by it, such as by team=payments")
	set.Var(n.webhooks, "webhook", "post the findings as JSON to this URL when they change. If the URL is a secret, "+
		"set the variable instead")
	ui.Group(set, ui.Alerts, "alertmanager", "label", "webhook")
}

// options makes the notifiers; resend is the time between two reports.
func (n *NotifyFlags) options(resend time.Duration, logger *slog.Logger) ([]scanner.Option, error) {
	var opts []scanner.Option
	if len(n.labels) > 0 && len(n.alertmanagers.Values()) == 0 {
		return nil, errors.New("--label needs --alertmanager: labels are for its alerts")
	}
	if urls := n.alertmanagers.Values(); len(urls) > 0 {
		am, err := notify.NewAlertmanager(notify.Alertmanager{URLs: urls, Interval: resend, Labels: n.labels, Logger: logger})
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(am))
	}
	for _, url := range n.webhooks.Values() {
		hook, err := notify.NewWebhook(notify.Webhook{URL: url})
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(hook))
	}
	return opts, nil
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
)

const secret = "s3cr3t"

const example = "../../../examples/cron/lockscope.yaml"

func TestLoadExample(t *testing.T) {
	f, err := config.Load(example)
	if err != nil {
		t.Fatal(err)
	}
	orders, batch := &f.Groups[0], &f.Groups[1]
	if len(f.Groups) != 2 || !*orders.Redlock || len(orders.Redis) != 3 || time.Duration(f.MaxHold) != 15*time.Minute {
		t.Errorf("%+v", f)
	}
	if got := config.Globs(f.PatternsOf(batch)); len(got) != 2 || got[0] != `job\-lock:default:*` ||
		time.Duration(batch.Patterns[0].MaxTTL) != 24*time.Hour {
		t.Errorf("%q, %+v", got, batch.Patterns)
	}
	if until := f.Exclusions[0].Until; !until.Equal(time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the last day is not excluded: %v", until)
	}
	if got := f.Secrets(); len(got) != 1 || got[0] != filepath.Join(filepath.Dir(example), "redis-password") {
		t.Errorf("%q", got)
	}
	if told, err := f.Notifiers(orders, time.Minute, nil); err != nil || len(told) != 1 {
		t.Errorf("%d notifiers, %v", len(told), err)
	}
}

// TestProblems: every problem is reported with its line and without a value.
func TestProblems(t *testing.T) {
	const redis = "groups: [{name: a, redis: [h:1]}]\n"
	for name, test := range map[string]struct{ text, says string }{
		"empty":      {"", "x.yaml: the file is empty"},
		"no mapping": {"- a", "x.yaml:1: must be a mapping (name: value)"},
		"typo":       {"interval: 1m\nmax_tll: 1h", `x.yaml:2: unknown name "max_tll": did you mean max_ttl?`},
		"typo below": {"groups:\n  - name: a\n    redis: [h:1]\n    pasword_file: x",
			`x.yaml:4: groups[0]: unknown name "pasword_file": did you mean password_file?`},
		"unknown": {secret + ": 1", "x.yaml:1: unknown name: use one of groups, patterns"},
		"embedded": {"notify: {webhooks: [{url: 'http://h', bearer_tokenfile: x}]}",
			"did you mean bearer_token_file?"},
		"twice":            {"interval: 1m\ninterval: 2m", "x.yaml:2: interval: set twice"},
		"syntax":           {"groups: [\n  '" + secret, "x.yaml:"},
		"unknown anchor":   {"checks: *" + secret, "x.yaml"},
		"two documents":    {"interval: 1m\n---\ninterval: 2m", "a second document"},
		"no list":          {"groups: {name: a}", "x.yaml:1: groups: must be a list"},
		"no name":          {"groups:\n  - redis: [h:1]", "x.yaml:2: groups[0]: name is missing"},
		"no text":          {"groups: [{name: 1, redis: [h:1]}]", "put it in quotation marks"},
		"no bool":          {"allow_empty: " + secret, "true or false"},
		"no number":        {"throttle: {page_size: " + secret + "}", "throttle.page_size: must be a whole number"},
		"no duration":      {"interval: 5", "interval: not a duration"},
		"negative":         {"interval: -5s", "interval: not a duration"},
		"list of duration": {"interval: [" + secret + "]", "interval: must be one value"},
		"zero":             {"max_ttl: 0s", "max_ttl: too short: use at least 1ms"},
		"no date":          {"exclusions: [{pattern: a, until: soon, reason: b}]", "not a date"},
		"no reason":        {"exclusions: [{pattern: a, until: 2026-12-31}]", "exclusions[0]: reason is missing"},
		"empty reason": {"exclusions: [{pattern: a, until: 2026-12-31, reason: ' '}]",
			"exclusions[0].reason: empty"},
		"bad URL": {"groups:\n- name: a\n  redis:\n  - h:1\n  - redis://u:" + secret + "@h:x1\n  redlock: true",
			"x.yaml:5: groups[0].redis[1]: the URL is not a server address"},
		"word for URL": {"groups: [{name: a, redis: [" + secret + "]}]", "groups[0].redis[0]"},
		"no redlock":   {"groups: [{name: a, redis: [h:1, h:2]}]", "redlock is missing"},
		"two names": {"groups: [{name: a, redis: [h:1]}, {name: a, redis: [h:2]}]",
			"groups[1].name: another group"},
		"both kinds": {"groups: [{name: a, redis: [h:1], cluster: true, sentinel_master: m}]",
			"both set: use one"},
		"replicas":   {"groups: [{name: a, redis: [h:1], replicas: [h:2, h:3]}]", "2 replicas for 1 server:"},
		"cert alone": {"groups: [{name: a, redis: [h:1], tls: {cert: x}}]", "cert and key"},
		"no pattern": {redis + "patterns: [{max_ttl: 1h}]", "patterns[0]: needs either pattern or prefix"},
		"one name twice": {redis + "patterns: [{name: a, prefix: x}, {name: a, prefix: y}]",
			"patterns[1]: another pattern has the same name"},
		"class": {redis + "checks: [" + secret + "]", "checks[0]: unknown class"},
		"severity": {redis + "notify: {alertmanagers: [{urls: ['http://h'], severity: {nottl: page}}]}",
			"unknown class"},
		"group of target": {redis + "notify: {webhooks: [{url: 'http://h', groups: [b]}]}", "unknown group"},
		"no template": {redis + "notify: {webhooks: [{url: 'http://h', secret_file: x}]}",
			"notify.webhooks[0].secret_file: needs template_file"},
		"two URLs":  {redis + "notify: {webhooks: [{url: 'http://h', url_file: x}]}", "either url or url_file"},
		"format":    {redis + "notify: {webhooks: [{url: 'http://h', format: slack}]}", "unknown name: use one of url"},
		"webhook":   {redis + "notify: {webhooks: [{}]}", "either url or url_file"},
		"no system": {"groups:\n- name: a", "x.yaml:2: groups[0]: no servers: set redis, postgres, etcd or zookeeper"},
		"two systems": {"groups:\n- {name: a, etcd: [h:1], zookeeper: [h:1]}",
			"x.yaml:2: groups[0]: etcd and zookeeper are all set: make a group of each"},
		"redlock of etcd": {"groups: [{name: a, etcd: [h:1], redlock: true}]", "groups[0].redlock: not for etcd: leave"},
		"patterns of ZooKeeper": {"groups: [{name: a, zookeeper: [h:1], patterns: [{prefix: x}]}]",
			"groups[0].patterns: not for zookeeper: use prefixes, max_ttl"},
		"patterns without Redis": {"groups: [{name: a, etcd: [h:1]}]\npatterns: [{prefix: x}]",
			"x.yaml:2: patterns: only for Redis, and no group has redis: give the groups prefixes"},
		"prefixes of Redis":     {"groups: [{name: a, redis: [h:1], prefixes: [x]}]", "not for redis: use patterns"},
		"schema of etcd":        {"groups: [{name: a, etcd: [h:1], schema: x}]", "groups[0].schema: not for etcd"},
		"user of PostgreSQL":    {"groups: [{name: a, postgres: 'postgres://h/d', username: x}]", "name the user in the URL"},
		"password of ZooKeeper": {"groups: [{name: a, zookeeper: [h:1], password_file: x}]", "use zookeeper_auth_file"},
		"TLS of ZooKeeper":      {"groups: [{name: a, zookeeper: [h:1], tls: {ca: x}}]", "reads ZooKeeper in plain text"},
		"TLS of a plain member": {"groups: [{name: a, etcd: ['https://h:1', 'h:2'], tls: {ca: x}}]", "etcd[1]: tls is"},
		"TLS without TLS": {"groups: [{name: a, postgres: 'postgres://h/d?sslmode=disable', tls: {ca: x}}]",
			"verify-full"},
		"password without user": {"groups: [{name: a, etcd: [h:1], password_file: x}]", "password_file: needs username"},
		"password in a URL":     {"groups: [{name: a, postgres: 'postgres://u:" + secret + "@h/d'}]", "put it into a file"},
		"password in a query": {"groups: [{name: a, postgres: 'postgres://h/d?password=" + secret + "'}]",
			"put it into a file"},
		"pairs of psql": {"groups: [{name: a, postgres: 'host=h password=" + secret + "'}]", "postgres: is not"},
		"empty prefix":  {"groups: [{name: a, etcd: [h:1], prefixes: ['']}]", "groups[0].prefixes: empty"},
		"short hold":    {"groups: [{name: a, etcd: [h:1], max_hold: 0s}]", "groups[0].max_hold: too short"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("x.yaml", []byte(test.text))
			var problems *config.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("%v", err)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v\nwant %s", err, test.says)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells a value: %v", err)
			}
		})
	}
}

func TestSecretsAreRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lockscope.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lockscope.yaml", "groups: [{name: a, redis: [h:1], username: u, password_file: pw}]\n")
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Target(&f.Groups[0]); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "password_file") {
		t.Errorf("%v", err)
	}
	write("pw", secret+"\n")
	c, err := f.Target(&f.Groups[0])
	if err != nil || c.Password != secret || c.Username != "u" {
		t.Errorf("%v", err)
	}
}

// TestWebhookFiles: a webhook has its URL, its template and a key in files.
func TestWebhookFiles(t *testing.T) {
	dir := t.TempDir()
	text := []byte(`groups: [{name: a, redis: [h:1]}]
notify:
  webhooks:
    - {url_file: url, template_file: text, secret_file: key}
    - {url: 'http://h'}
`)
	f, err := config.Parse(filepath.Join(dir, "x.yaml"), text)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Secrets(); len(got) != 3 || filepath.Base(got[0]) != "url" || filepath.Base(got[1]) != "text" ||
		filepath.Base(got[2]) != "key" {
		t.Errorf("files: %q", got)
	}
	for _, step := range []struct{ file, text, says string }{
		{"", "", "url_file: "},
		{"url", "h/" + secret + "\n", "secret_file: "},
		{"key", secret + "\n", "template_file: "},
		{"text", `{"key": {{json .Secret}}}`, "invalid URL"},
		{"url", "http://h/" + secret + "\n", ""},
		{"text", `{"key": {{.Secret}}}`, "no valid JSON"},
	} {
		if step.file != "" {
			if err := os.WriteFile(filepath.Join(dir, step.file), []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := f.Notifiers(&f.Groups[0], time.Minute, nil)
		switch {
		case step.says == "" && (err != nil || len(all) != 2):
			t.Errorf("%d notifiers, %v", len(all), err)
		case step.says != "" && (err == nil || !strings.Contains(err.Error(), step.says) ||
			!strings.Contains(err.Error(), "x.yaml:4: notify.webhooks[0]") || strings.Contains(err.Error(), secret)):
			t.Errorf("%v, want %q", err, step.says)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
)

// TestSchema accepts the example and refuses what Load refuses.
func TestSchema(t *testing.T) {
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text string
		fits bool
	}{
		"example":     {string(shipped), true},
		"credentials": {"notify: {webhooks: [{url_file: x, username: u, password_file: p}]}", true},
		"pause":       {"throttle: {pause: 0s, max_values: 0}", true},
		"template":    {"notify: {webhooks: [{url: 'http://h', template_file: x, secret_file: y}]}", true},
		"systems": {"groups: [{name: a, postgres: 'postgres://h/d', schema: x}, {name: b, etcd: ['h:1'], max_hold: 1h}, " +
			"{name: c, zookeeper: ['h:1'], zookeeper_auth_file: x, prefixes: [/a]}]", true},
		"no such system": {"groups: [{name: a, consul: ['h:1']}]", false},
		"format":         {"notify: {webhooks: [{format: slack, url: 'http://h'}]}", false},
		"typo":           {"max_tll: 1h", false},
		"typo below":     {"groups: [{name: a, redis: ['h:1'], pasword_file: x}]", false},
		"no name":        {"groups: [{redis: ['h:1']}]", false},
		"duration":       {"interval: soon", false},
		"no reason":      {"exclusions: [{pattern: a, until: '2026-12-31'}]", false},
		"date":           {"exclusions: [{pattern: a, until: soon, reason: b}]", false},
	} {
		if err := resolved.Validate(instance(t, test.text)); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// instance is a text as an editor sees it: YAML's dates are strings in JSON.
func instance(t *testing.T, text string) any {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err)
	}
	var retag func(n *yaml.Node)
	retag = func(n *yaml.Node) {
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, c := range n.Content {
			retag(c)
		}
	}
	retag(&node)
	var v any
	if err := node.Decode(&v); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(encoded, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

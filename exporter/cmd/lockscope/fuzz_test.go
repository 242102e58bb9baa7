package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
)

// FuzzParse: whatever the text, the error is a list of problems without control characters.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, s := range []string{
		"# nothing", "a: &a [*a]", "<<: {interval: 1m}", "? [x]\n: y",
		"groups: [{name: a, redis: [h:1]}]\nmax_ttl: 99999w99999d",
		"interval: !!binary aGk=", "---\n---\n", "groups: !!set {a}", "\x1b[31m: 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := config.Parse("x.yaml", text)
		if (file == nil) == (err == nil) {
			t.Fatalf("%q: neither a file nor an error, or both: %v", text, err)
		}
		if err == nil {
			return
		}
		if _, ok := errors.AsType[*config.Problems](err); !ok {
			t.Fatalf("%q: %T", text, err)
		}
		for line := range strings.Lines(err.Error()) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
				t.Fatalf("%q: %q", text, line)
			}
		}
	})
}

// FuzzServers: the list of servers has passwords, which no error shows.
func FuzzServers(f *testing.F) {
	f.Add("redis://app:", "@r1:6379/0\n# r2\n[::1]:6379\n/run/redis.sock")
	f.Add("r1:6379,", "x@h:1")
	f.Add("rediss://u:p?db=", "&protocol=9")
	f.Fuzz(func(t *testing.T, before, after string) {
		nodes, err := servers.RedisConfig{File: "-", Stdin: strings.NewReader(before + secret + after)}.Open()
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("the secret is in %v", err)
		}
		_ = servers.Close(nodes)
	})
}

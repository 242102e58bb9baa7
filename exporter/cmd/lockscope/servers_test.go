package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
)

func optionsOf(t *testing.T, c servers.RedisConfig) []*redis.Options {
	t.Helper()
	nodes, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := servers.Close(nodes); err != nil {
			t.Error(err)
		}
	})
	var all []*redis.Options
	for _, n := range nodes {
		all = append(all, n.Client.(*redis.Client).Options())
	}
	return all
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestURLsFromEverywhere(t *testing.T) {
	opts := optionsOf(t, servers.RedisConfig{
		URLs: []string{"redis://h1:1", "h2:2", "[::1]:3"}, File: "-",
		Stdin: strings.NewReader("# nodes\n\n  rediss://u:p@h4:4/2  \n"),
	})
	var addrs []string
	for _, o := range opts {
		addrs = append(addrs, o.Addr)
		if o.MaxRetries > 0 || !o.DisableIdentity || !o.ContextTimeoutEnabled {
			t.Errorf("%s: retries %d", o.Addr, o.MaxRetries)
		}
	}
	if want := []string{"h1:1", "h2:2", "[::1]:3", "h4:4"}; !slices.Equal(addrs, want) {
		t.Errorf("%q, want %q", addrs, want)
	}
	if last := opts[3]; last.DB != 2 || last.TLSConfig == nil || last.Username != "u" || last.Password != "p" {
		t.Errorf("user %q, db %d", last.Username, last.DB)
	}
}

func TestShortForms(t *testing.T) {
	for raw, want := range map[string]string{
		"localhost": "localhost:6379", "10.0.0.7": "10.0.0.7:6379", "::1": "[::1]:6379", "[::1]": "[::1]:6379",
		"redis.prod.internal": "redis.prod.internal:6379", "/run/redis.sock": "/run/redis.sock",
		"unix:///run/redis.sock":      "/run/redis.sock",
		"unix:///run/redis.sock?db=2": "/run/redis.sock", "redis://localhost": "localhost:6379",
	} {
		if opts := optionsOf(t, servers.RedisConfig{URLs: []string{raw}}); opts[0].Addr != want {
			t.Errorf("%s: %s, want %s", raw, opts[0].Addr, want)
		}
	}
	if _, err := (servers.RedisConfig{URLs: []string{"word.word1.W"}}).Open(); !errors.Is(err, servers.ErrBadURL) {
		t.Errorf("%v", err)
	}
}

func TestCredentialsFillInWhatURLsLeaveOpen(t *testing.T) {
	opts := optionsOf(t, servers.RedisConfig{
		URLs: []string{"redis://own:mine@h1:1", "redis://:mine@h2:2", "redis://own@h3:3", "h4:4"}, Username: "all",
		PasswordFile: file(t, secret+"\n"),
	})
	for i, want := range [][2]string{{"own", "mine"}, {"", "mine"}, {"own", secret}, {"all", secret}} {
		if got := [2]string{opts[i].Username, opts[i].Password}; got != want {
			t.Errorf("URL %d: %q, want %q", i+1, got, want)
		}
	}
}

func TestBadInputIsRefusedWithoutItsText(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]servers.RedisConfig{
		"none":               {},
		"empty file":         {File: file(t, "# nothing\n")},
		"scheme":             {URLs: []string{"http://u:" + secret + "@h:1"}},
		"port":               {URLs: []string{"redis://u:" + secret + "@h:63x9"}},
		"escape":             {URLs: []string{"redis://u:" + secret + "%zz@h:1"}},
		"raw comma split":    {URLs: []string{"redis://u:" + secret, "rest@h:1"}},
		"user without URL":   {URLs: []string{"u:" + secret + "@h:1"}},
		"no port":            {URLs: []string{secret}},
		"too many":           {URLs: slices.Repeat([]string{"h:1"}, 1001)},
		"no URL file":        {File: missing},
		"no password file":   {URLs: []string{"h:1"}, PasswordFile: missing},
		"empty password":     {URLs: []string{"h:1"}, PasswordFile: file(t, "\n")},
		"TLS on plain":       {URLs: []string{"redis://u:" + secret + "@h:1"}, TLS: servers.TLS{SkipVerify: true}},
		"no CA":              {URLs: []string{"rediss://h:1"}, TLS: servers.TLS{CA: missing}},
		"CA is none":         {URLs: []string{"rediss://h:1"}, TLS: servers.TLS{CA: file(t, secret)}},
		"cert without key":   {URLs: []string{"rediss://h:1"}, TLS: servers.TLS{Cert: file(t, "x")}},
		"bad cert":           {URLs: []string{"rediss://h:1"}, TLS: servers.TLS{Cert: file(t, secret), Key: file(t, secret)}},
		"cluster + sentinel": {URLs: []string{"h:1"}, Cluster: true, SentinelMaster: "m"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := c.Open()
			if err == nil {
				_ = servers.Close(nodes)
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}

func TestClusterAndSentinelAreOneNode(t *testing.T) {
	for name, c := range map[string]servers.RedisConfig{
		"cluster:h1:1": {URLs: []string{"redis://u:" + secret + "@h1:1", "h2:2"}, Cluster: true},
		"sentinel:main": {URLs: []string{"redis://u:" + secret + "@h1:1", "h2:2"}, SentinelMaster: "main",
			SentinelPassword: secret},
	} {
		nodes, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != 1 || nodes[0].Name != name {
			t.Errorf("%+v, want one node %s", nodes, name)
		}
		if err := servers.Close(nodes); err != nil {
			t.Error(err)
		}
	}
}

package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestName(t *testing.T) {
	for flag, want := range map[string]string{
		"redis": "LOCKSCOPE_REDIS", "log.level": "LOCKSCOPE_LOG_LEVEL", "max-ttl": "LOCKSCOPE_MAX_TTL",
		"web.listen-address": "LOCKSCOPE_WEB_LISTEN_ADDRESS",
	} {
		if got := VariableName(flag); got != want {
			t.Errorf("Name(%q) = %q, want %q", flag, got, want)
		}
	}
}

func TestParseEnv(t *testing.T) {
	env := ParseEnv([]string{"A=1", "B=x=y", "nonsense", "A=2", "C="})
	if env["A"] != "2" || env["B"] != "x=y" || env["C"] != "" || len(env) != 3 {
		t.Errorf("%v", env)
	}
}

func TestApply(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	ttl := set.Duration("max-ttl", time.Minute, "")
	level := set.String("log.level", "info", "")
	pause := set.Duration("pause", time.Second, "")
	urls := NewList("URL", "default")
	set.Var(urls, "redis", "")
	if err := set.Parse([]string{"--max-ttl=5s"}); err != nil {
		t.Fatal(err)
	}
	env := Env{"LOCKSCOPE_MAX_TTL": "9s", "LOCKSCOPE_LOG_LEVEL": "debug", "LOCKSCOPE_PAUSE": "",
		"LOCKSCOPE_REDIS": "a, b,,c"}
	if err := ApplyEnv(set, env); err != nil {
		t.Fatal(err)
	}
	if *ttl != 5*time.Second {
		t.Errorf("the flag does not win over its variable: %v", *ttl)
	}
	if *level != "debug" || *pause != time.Second {
		t.Errorf("level %q, pause %v", *level, *pause)
	}
	if got := urls.Values(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("urls %q", got)
	}
}

func TestApplyWithholdsTheValue(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.Duration("interval", 0, "")
	err := ApplyEnv(set, Env{"LOCKSCOPE_INTERVAL": "s3cr3t"})
	if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "LOCKSCOPE_INTERVAL") {
		t.Errorf("%v", err)
	}
}

func TestListIsRepeatable(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	urls := NewList("URL", "default")
	set.Var(urls, "redis", "")
	if got := urls.Values(); !slices.Equal(got, []string{"default"}) {
		t.Errorf("default %q", got)
	}
	if err := set.Parse([]string{"--redis", "a,b", "--redis=c"}); err != nil {
		t.Fatal(err)
	}
	if got := urls.Values(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

func TestVariable(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.Bool("help", false, "help")
	set.Bool("cluster", false, "one cluster")
	set.Bool("yes", false, "do it")
	CommandLineOnly(set, "yes")
	for name, want := range map[string]bool{"help": false, "cluster": true, "yes": false} {
		if got, ok := Variable(set.Lookup(name)); ok != want || got != VariableName(name) {
			t.Errorf("%s: %s, %v", name, got, ok)
		}
	}
}

func TestGroup(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.Bool("cluster", false, "one cluster")
	set.Bool("yes", false, "do it")
	Group(set, "Servers", "cluster")
	if got := GroupOf(set.Lookup("cluster")); got != "Servers" {
		t.Errorf("%q", got)
	}
	if got := GroupOf(set.Lookup("yes")); got != "Flags" {
		t.Errorf("%q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a flag that is not there can be grouped")
		}
	}()
	Group(set, "Servers", "nonsense")
}

func TestTypos(t *testing.T) {
	known := []string{"LOCKSCOPE_REDIS", "LOCKSCOPE_MAX_TTL", "LOCKSCOPE_MAX_HOLD", "LOCKSCOPE_FOR"}
	env := Env{
		"LOCKSCOPE_REDISS": "", "LOCKSCOPE_MAXTTL": "", "LOCKSCOPE_MAX_TTL": "1s",
		"LOCKSCOPE_REDIS_SERVER": "/bin/redis-server",
		"LOCKSCOPE_PORT":         "tcp://x", "LOCKSCOPE_PORT_6379_TCP": "tcp://x", "LOCKSCOPE_FOR_SERVICE_PORT": "",
		"REDIS": "", "LOCKSCOPE": "",
	}
	want := []Typo{{"LOCKSCOPE_MAXTTL", "LOCKSCOPE_MAX_TTL"}, {"LOCKSCOPE_REDISS", "LOCKSCOPE_REDIS"}}
	if got := Typos(env, known); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

package profiles_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/profiles"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

func client(t *testing.T, p profiles.Profile, protocol int) *redis.Client {
	t.Helper()
	s, err := profiles.Listen(locktest.Servers(t, 1)[0].Addr(), p)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: protocol, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestAProfileChangesWhatItSays and nothing else, with both versions of the protocol.
func TestAProfileChangesWhatItSays(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{2, 3} {
		c := client(t, profiles.Dragonfly(), protocol)
		info := redisinfo.Parse(c.Info(t.Context()).Val())
		if info.RunID() != "" || info["redis_version"] != "7.4.0" || info["dragonfly_version"] == "" ||
			info.Role() != "master" || info["used_memory"] == "" || info["aof_enabled"] != "" {
			t.Errorf("RESP%d: INFO is %v", protocol, info)
		}
		if found, err := c.ConfigGet(t.Context(), "appendfsync").Result(); err != nil || len(found) != 0 {
			t.Errorf("RESP%d: CONFIG GET finds %v, %v", protocol, found, err)
		}
		if got, err := c.Eval(t.Context(), "return ARGV[1]", nil, "a\r\nb").Text(); err != nil || got != "a\r\nb" {
			t.Errorf("RESP%d: a script returns %q, %v", protocol, got, err)
		}
	}
}

// TestRefusalsKeepTheirPlace among the replies of a pipeline.
func TestRefusalsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	p := profiles.AzureCache().Refusing("client|id", "NOPERM no").WithoutSections("Memory")
	c := client(t, p, 3)
	got, _ := c.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		pipe.Set(t.Context(), "k", "v", 0)
		pipe.ConfigGet(t.Context(), "maxmemory")
		pipe.Get(t.Context(), "k")
		pipe.ClientID(t.Context())
		pipe.ClientGetName(t.Context())
		pipe.Info(t.Context())
		return nil
	})
	for i, want := range []string{"", "ERR unknown command 'config'", "", "NOPERM no", "redis: nil", ""} {
		if text := errorText(got[i].Err()); text != want {
			t.Errorf("%v: %q, want %q", got[i].Args(), text, want)
		}
	}
	if text := got[5].(*redis.StringCmd).Val(); strings.Contains(text, "maxmemory") || !strings.Contains(text, "# Stats") {
		t.Errorf("INFO is %s", text)
	}
}

// TestMessagesPass through to a subscriber.
func TestMessagesPass(t *testing.T) {
	t.Parallel()
	c := client(t, profiles.Memorystore(), 3)
	sub := c.Subscribe(t.Context(), "channel")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(t.Context(), "channel", "text").Err(); err != nil {
		t.Fatal(err)
	}
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != "text" {
		t.Errorf("got %v, %v", m, err)
	}
}

// TestNamesDiffer, since tables have one line for each.
func TestNamesDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, p := range profiles.All() {
		if p.Name == "" || p.Policy == "" || seen[p.Name] {
			t.Errorf("%q, policy %q", p.Name, p.Policy)
		}
		seen[p.Name] = true
	}
}

// TestCloseEndsConnections, also a second time.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	s, err := profiles.Listen(locktest.Servers(t, 1)[0].Addr(), profiles.Valkey())
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialerRetries: 1, DisableIdentity: true})
	defer c.Close()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := c.Ping(context.WithoutCancel(t.Context())).Err(); err == nil {
		t.Error("it still answers")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// clientOfProfile is a client of a server that answers as p.
func clientOfProfile(t *testing.T, p profile, protocol int) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", p.listen(t, locktest.Servers(t, 1)[0].Addr())),
		Protocol: protocol, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { cmdtest.Must(t, c.Close()) })
	return c
}

// TestAProfileChangesWhatItSays and nothing else, with both versions of the protocol.
func TestAProfileChangesWhatItSays(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{2, 3} {
		c := clientOfProfile(t, dragonfly(), protocol)
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
	p := azureCache().refusing("client|id", "NOPERM no").withoutSections("Memory")
	c := clientOfProfile(t, p, 3)
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

// TestRealServersThatRefuseToBeAsked: each refusal is named, and what can be examined without is examined.
func TestRealServersThatRefuseToBeAsked(t *testing.T) {
	t.Parallel()
	redisItself := profile{}
	for name, c := range map[string]struct {
		profile profile
		level   diagnosis.Level
		status  inspect.Status
		says    []string
	}{
		"INFO": {redisItself.refusing("info", "ERR unknown command 'info'"), diagnosis.LevelWithout, inspect.Fail,
			[]string{"INFO is refused: ERR unknown command 'info': restarts, replicas", "WithoutGuard", "--without-guard"}},
		"INFO to this user": {redisItself.refusing("info", "NOPERM no 'info'"), diagnosis.LevelWithout, inspect.Fail,
			[]string{"INFO is refused: NOPERM", "grant +info"}},
		"section Replication": {redisItself.withoutSections("Replication"), diagnosis.LevelWithout, inspect.Fail,
			[]string{"INFO has no section Replication", "INFO has no role", "replicas and restarts", "WithoutGuard"}},
		"section Memory": {redisItself.withoutSections("Memory"), diagnosis.LevelFull, inspect.Fail,
			[]string{"INFO has no section Memory", "by evicted_keys", "WithoutEviction", "--without-eviction"}},
		"section Stats": {redisItself.withoutSections("Stats"), diagnosis.LevelFull, inspect.Pass,
			[]string{"INFO has no section Stats", "INFO has no evicted_keys"}},
		"CONFIG": {redisItself.refusing("config", "ERR unknown command 'config'"), diagnosis.LevelFull, inspect.Pass,
			[]string{"CONFIG is refused", "locks do not need it"}},
		"EVAL": {redisItself.refusing("eval", "ERR unknown command 'eval'"), diagnosis.LevelUnfit, inspect.Fail,
			[]string{"EVAL is refused", "no lock can be taken on it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := fmt.Sprintf("127.0.0.1:%d", c.profile.listen(t, locktest.Servers(t, 1)[0].Addr()))
			var r doctor.Report
			command(t, cmdtest.Patient("-o", "json", "--redis", addr)...).Decode(t, &r)
			all, connected := "", false
			for _, one := range r.Results {
				connected = connected || one.Check == "connection" && one.Status == inspect.Pass
				if one.Check != "guard" {
					continue
				}
				if all == "" && (one.Status != c.status || !strings.HasPrefix(one.Detail, string(c.level))) {
					t.Errorf("%s: %s", one.Status, one.Detail)
				}
				all += one.Detail + " " + one.Advice + "\n"
			}
			if !connected {
				t.Errorf("%+v", r.Results)
			}
			for _, text := range c.says {
				if !strings.Contains(all, text) {
					t.Errorf("%q is not in\n%s", text, all)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

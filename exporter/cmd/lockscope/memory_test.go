package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// TestScansRemember runs scans over a lock whose value does not tell how old it is: the first of them cannot either.
func TestScansRemember(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	state := filepath.Join(t.TempDir(), "state.json")
	must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:7", 1).Err())
	must(t, c.Expire(t.Context(), "lock:redisson", time.Minute).Err())
	scan := func() outcome {
		return command(t, "scan", "--redis", s.Addr(), "--state", state, "--max-hold", "2s", "--confirm-after", "10ms")
	}
	scan().want(t, exitClean)
	var last outcome
	eventually(t, "a later run knows for how long it is held", func() bool {
		time.Sleep(60 * time.Millisecond) // the time between two runs of cron
		last = scan()
		return last.status != exitClean
	})
	last.want(t, exitFindings, "held_too_long", "lock:redisson")
	command(t, "scan", "--redis", s.Addr(), "--state", filepath.Join(state, "x")).want(t, exitError, "--state")
	command(t, "scan", "--redis", s.Addr(), "--state", "redis:cron", "--confirm-after", "0s").want(t, exitClean)
	if c.Exists(t.Context(), "lockscope:scanner:memory:cron").Val() != 1 {
		t.Error("nothing is kept in Redis")
	}
	must(t, os.WriteFile(state, []byte("x"), 0o600))
	scan().want(t, exitError, "load memory", "remove it")
}

// TestQuietJSON prints a document also when there is nothing wrong: who asks for one reads it.
func TestQuietJSON(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	set(t, admin(t, s), "lock:a", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute)
	o := command(t, "scan", "--redis", s.Addr(), "-q", "-o", "json")
	o.want(t, exitClean)
	var d scanner.Document
	must(t, json.Unmarshal([]byte(o.out), &d))
	if d.Status != wordClean || !d.Complete {
		t.Errorf("%+v", d)
	}
	if o := command(t, "scan", "--redis", s.Addr(), "-q"); o.out != "" {
		t.Errorf("quiet, and says %q", o.out)
	}
}

// TestReadyWithFewRights has the user of the README: it may scan, and may not PING.
func TestReadyWithFewRights(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	for rights, ready := range map[string]bool{"+info": true, "+get": false} {
		must(t, c.Do(t.Context(), "acl", "setuser", "few", "reset", "on", ">pw", "~lock:*", "+scan", rights).Err())
		pings := newPings(openNodes(t, "redis://few:pw@"+s.Addr()))
		pings.round(t.Context())
		err := pings.ready(t.Context())
		if (err == nil) != ready {
			t.Errorf("with %s: %v", rights, err)
		}
		if err != nil && !strings.Contains(err.Error(), "+ping") {
			t.Errorf("the missing right is not named: %v", err)
		}
	}
}

// TestElectionIsPartOfReadiness: a serve that cannot know whether it is to sweep says so.
func TestElectionIsPartOfReadiness(t *testing.T) {
	if err := undecided(scanner.Snapshot{Standby: true}); err != nil {
		t.Errorf("a standby is ready: %v", err)
	}
	if err := undecided(scanner.Snapshot{Undecided: http.ErrServerClosed}); err != nil {
		t.Errorf("who sweeps is ready: %v", err)
	}
	if undecided(scanner.Snapshot{Standby: true, Undecided: http.ErrServerClosed}) == nil {
		t.Error("nobody sweeps, and it is ready")
	}
}

func TestLabelsAreForAlerts(t *testing.T) {
	command(t, "scan", "--redis", "127.0.0.1:1", "--label", "team=payments").want(t, exitError, "--label", "--alertmanager")
	command(t, "scan", "--redis", "127.0.0.1:1", "--label", "alertname=x", "--alertmanager", "http://127.0.0.1:1").want(t, exitError, "alertname")
}

func openNodes(t *testing.T, url string) []target.Node {
	t.Helper()
	opt, err := redis.ParseURL(url)
	must(t, err)
	opt.DisableIdentity = true
	c := redis.NewClient(opt)
	t.Cleanup(func() { must(t, c.Close()) })
	return []target.Node{{Name: opt.Addr, Address: opt.Addr, Client: c}}
}

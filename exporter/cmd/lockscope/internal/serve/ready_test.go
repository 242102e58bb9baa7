package serve

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/scanner"
)

// TestReadyWithFewRights uses the user of the README, which may scan but not PING. That is refused once: each refusal is
// a line in the server's ACL LOG.
func TestReadyWithFewRights(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	for rights, ready := range map[string]bool{"+info": true, "+get": false} {
		cmdtest.Must(t, c.Do(t.Context(), "acl", "setuser", "few", "reset", "on", ">pw", "~lock:*", "+scan",
			rights).Err())
		pings := newPings(guard.Config{}, set{nodes: openNodes(t, "redis://few:pw@"+s.Addr())})
		cmdtest.Must(t, c.Do(t.Context(), "acl", "log", "reset").Err())
		pings.round(t.Context())
		err := pings.ready(t.Context())
		pings.round(t.Context())
		for range 2 {
			pings.askVotes(t.Context())
		}
		log, logged := c.ACLLog(t.Context(), 10).Result()
		cmdtest.Must(t, logged)
		refused := make(map[string]int64)
		for _, line := range log {
			refused[line.Object] += line.Count
		}
		if want := map[string]int64{"ping": 1, "getrange": 1}; ready && !maps.Equal(refused, want) {
			t.Errorf("refused %v, want each once: %v", refused, want)
		}
		if (err == nil) != ready {
			t.Errorf("with %s: %v", rights, err)
		}
		if err != nil && !strings.Contains(err.Error(), "+ping") {
			t.Errorf("the missing right is not named: %v", err)
		}
	}
}

// TestElectionIsPartOfReadiness: a serve that cannot tell whether it is to sweep reports that.
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

func openNodes(t *testing.T, url string) []servers.Node {
	t.Helper()
	opt, err := redis.ParseURL(url)
	cmdtest.Must(t, err)
	opt.DisableIdentity = true
	c := redis.NewClient(opt)
	t.Cleanup(func() { cmdtest.Must(t, c.Close()) })
	return []servers.Node{{Name: opt.Addr, Address: opt.Addr, Client: c}}
}

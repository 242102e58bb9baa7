package zkinspect

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestWhatAZooKeeperServerSays about itself when it is asked without a session.
func TestWhatAZooKeeperServerSays(t *testing.T) {
	for name, c := range map[string]struct {
		text, detail string
		status       inspect.Status
	}{
		"a leader": {"Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2022-02-25\nLatency " +
			"min/avg/max: 0/0.0/0\nMode: leader\nNode count: 5\n", "leader, 3.8.0", inspect.Pass},
		"srvr is not on the list": {"srvr is not executed because it is not in the whitelist.\n", "role is unknown",
			inspect.Warn},
		"no majority": {"This ZooKeeper instance is not currently serving requests\n", "does not serve",
			inspect.Fail},
		"something else": {"HTTP/1.1 400 Bad Request\r\n\r\n", "not as ZooKeeper does", inspect.Fail},
		"nothing":        {"", "not as ZooKeeper does", inspect.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			s := server{Address: "zk1:2181"}
			s.read(c.text)
			r := checkServer(s, facts{Session: errors.New("none")})
			if r.Status != c.status || !strings.Contains(r.Detail, c.detail) ||
				(r.Advice == "") != (r.Status == inspect.Pass) {
				t.Errorf("%+v", r)
			}
		})
	}
}

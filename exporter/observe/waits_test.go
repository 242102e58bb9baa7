package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// longWait is the record of a wait that goes on.
type longWait struct {
	Msg, Class, Blocker                        string
	Waited                                     string
	LongestWait                                string `json:"longest_wait"`
	Waiting, Granted, Refused, Failed, Unheard int
	NotAsked                                   int `json:"not_asked"`
	Nodes, Needed                              int
	Reasons                                    map[string]string
}

func (s *text) longWaits(t *testing.T) (all []longWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range bytes.Lines(s.b.Bytes()) {
		var r longWait
		must(t, json.Unmarshal(line, &r))
		if r.Msg == "still waiting for the lock" {
			all = append(all, r)
		}
	}
	return all
}

// TestLongWaitsOnRealServers: a thousand callers wait. Of five servers one is dead, one hangs, one is a replica and one
// is empty; then two are dead and one is empty; then the callers wait behind a holder; then all servers are dead.
func TestLongWaitsOnRealServers(t *testing.T) {
	for name, c := range map[string]struct {
		fail  func(*testing.T, []*redisproc.Server)
		class string // or two classes, if the order of the answers or a late one decides
	}{
		"four ways": {func(t *testing.T, s []*redisproc.Server) {
			must(t, s[0].Kill())
			must(t, s[1].Pause())
			c := redis.NewClient(&redis.Options{Addr: s[2].Addr()})
			must(t, errors.Join(c.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(), c.Close()))
			must(t, s[3].Kill())
			must(t, s[3].Wipe())
			must(t, s[3].Restart(t.Context()))
		}, "no_quorum quarantined"},
		"one is empty": {func(t *testing.T, s []*redisproc.Server) {
			must(t, s[0].Kill())
			must(t, s[1].Kill())
			must(t, s[2].Kill())
			must(t, s[2].Wipe())
			must(t, s[2].Restart(t.Context()))
		}, "quarantined no_quorum"},
		"holder": {nil, "holder"},
		"all dead": {func(t *testing.T, all []*redisproc.Server) {
			for _, s := range all {
				must(t, s.Kill())
			}
		}, "no_quorum"},
	} {
		t.Run(name, func(t *testing.T) {
			servers := locktest.Servers(t, 5)
			var urls []string
			for _, s := range servers {
				urls = append(urls, "redis://"+s.Addr())
			}
			must(t, vouch(urls))
			if c.fail == nil {
				other, err := observe.Redis(urls, observe.Config{Instance: "billing-7"})
				must(t, err)
				_, err = other.Acquire(t.Context(), "job")
				must(t, err)
				defer func() { must(t, other.Shutdown(context.Background())) }()
			} else {
				c.fail(t, servers)
			}
			r := waitFor(t, urls, c.class)
			if !strings.Contains(c.class, r.Class) || r.Class == "" || r.Waiting < callers ||
				(c.class == "holder") != (r.Blocker == "billing-7") {
				t.Errorf("logged %+v, want class %s and %d callers or more", r, c.class, callers)
			}
			if sum := r.Granted + r.Refused + r.Failed + r.Unheard + r.NotAsked; sum != 5 || r.Nodes != 5 {
				t.Errorf("the nodes do not add up: %+v", r)
			}
			if c.class != "holder" && len(r.Reasons) != 5-r.Granted {
				t.Errorf("%d nodes did not grant, the reasons are %v", 5-r.Granted, r.Reasons)
			}
			for node, reason := range r.Reasons {
				if reason == "not asked" {
					t.Errorf("of node %s is not said why it was not asked", node)
				}
			}
			for _, d := range []string{r.Waited, r.LongestWait} {
				if _, err := time.ParseDuration(d); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const callers = 1000

// waitFor returns the first record of a wait by so many callers that all of them are in it, and of such a class: an attempt
// that a busy machine answers late is of another one.
func waitFor(t *testing.T, urls []string, class string) (found longWait) {
	logs := new(text)
	locks, err := observe.Redis(urls, observe.Config{
		Instance: "orders-1", Logger: slog.New(slog.NewJSONHandler(logs, nil)),
		Instrument: []instrument.Option{instrument.WithLongWait(time.Second), instrument.WithLogInterval(0)},
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	call := func() {
		waiting.Go(func() {
			if _, err := locks.Acquire(ctx, "job"); err == nil {
				t.Error("acquired")
			}
		})
	}
	for range callers {
		call()
	}
	// Each call is reported once: later records cover all calls before them, however slowly those began.
	deadline, later := time.Now().Add(time.Minute), time.NewTicker(100*time.Millisecond)
	defer later.Stop()
	for (found.Waiting < callers || !strings.Contains(class, found.Class)) && time.Now().Before(deadline) {
		<-later.C
		call()
		if all := logs.longWaits(t); len(all) > 0 {
			found = all[len(all)-1]
		}
	}
	cancel()
	waiting.Wait()
	must(t, locks.Shutdown(context.Background()))
	return found
}

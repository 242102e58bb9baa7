package compose_test

import (
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/otlp/otlptest"
	"github.com/lockscope/lockscope/lock"
)

func hexID(id []byte) string { return hex.EncodeToString(id) }

type target struct {
	Labels    map[string]string `json:"labels"`
	Health    string            `json:"health"`
	LastError string            `json:"lastError"`
}

// checkTargets: Prometheus reaches all that it is to scrape.
func (f *fleet) checkTargets() {
	f.t.Helper()
	var answer struct {
		Data struct{ ActiveTargets []target }
	}
	f.prometheus.await("four targets are up", func() bool {
		query(f.t, f.api("targets"), &answer)
		up := slices.DeleteFunc(slices.Clone(answer.Data.ActiveTargets),
			func(t target) bool { return t.Health != "up" })
		return len(answer.Data.ActiveTargets) == 4 && len(up) == 4
	})
	jobs := make(map[string]int)
	for _, target := range answer.Data.ActiveTargets {
		jobs[target.Labels["job"]]++
	}
	if !maps.Equal(jobs, map[string]int{"orders": 2, "lockscope": 1, "prometheus": 1}) {
		f.t.Errorf("jobs %v", jobs)
	}
}

type rule struct{ Name, Type, Health, LastError string }

// checkRules: all rules have been evaluated, and none has an error.
func (f *fleet) checkRules() {
	f.t.Helper()
	var rules []rule
	f.prometheus.await("the rules are evaluated", func() bool {
		var answer struct {
			Data struct{ Groups []struct{ Rules []rule } }
		}
		query(f.t, f.api("rules"), &answer)
		rules = nil
		for _, g := range answer.Data.Groups {
			rules = append(rules, g.Rules...)
		}
		return len(rules) > 0 && !slices.ContainsFunc(rules, func(r rule) bool { return r.Health == "unknown" })
	})
	of := make(map[string]int)
	for _, r := range rules {
		of[r.Type]++
		if r.Health != "ok" {
			f.t.Errorf("%s: %s: %s", r.Name, r.Health, r.LastError)
		}
	}
	if of["alerting"] < 18 || of["recording"] < 20 {
		f.t.Errorf("rules: %v", of)
	}
	f.t.Logf("rules: %v", of)
}

// checkExemplars returns the traces that the waits for orders lead to.
func (f *fleet) checkExemplars() map[string]bool {
	f.t.Helper()
	traced := make(map[string]bool)
	f.prometheus.await("exemplars are stored", func() bool {
		var answer struct {
			Data []struct {
				Exemplars []struct{ Labels map[string]string }
			}
		}
		query(f.t, f.api("query_exemplars?start=0&end=9999999999&query="+
			url.QueryEscape(`distributed_lock_wait_seconds_bucket{job="orders"}`)), &answer)
		for _, series := range answer.Data {
			for _, e := range series.Exemplars {
				traced[e.Labels["trace_id"]] = true // the name that Grafana is told
			}
		}
		return len(traced) > 0
	})
	return traced
}

// checkResources: each of the two processes says in its spans which one it is.
func (f *fleet) checkResources() {
	f.t.Helper()
	for _, name := range []string{"orders-1", "orders-2"} {
		f.spans.Await(f.t, "spans of "+name, func(all []otlptest.Span) bool {
			return slices.ContainsFunc(all, func(s otlptest.Span) bool {
				return s.Resource["service.name"] == "orders" && s.Resource["service.instance.id"] == name
			})
		})
	}
}

// alerted waits until Alertmanager has an alert.
func (f *fleet) alerted(name, node string) {
	f.t.Helper()
	f.prometheus.await("Alertmanager has "+name, func() bool {
		var alerts []struct {
			Labels    map[string]string
			Receivers []struct{ Name string }
		}
		query(f.t, "http://"+f.here["alertmanager:9093"]+"/api/v2/alerts", &alerts)
		for _, a := range alerts {
			if a.Labels["alertname"] == name && a.Labels["lock_node"] == node {
				return a.Receivers[0].Name == "team"
			}
		}
		return false
	})
}

// charge charges an order and returns the answer's status.
func (f *fleet) charge(name string) (int, http.Header) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "http://"+f.here[name+":8080"]+
		"/orders/1001/charge", nil)
	must(f.t, err)
	resp, err := httpClient.Do(req)
	must(f.t, err)
	must(f.t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

// checkPause pauses a node as README.md says, which is alerted about while charges
// go on.
func (f *fleet) checkPause() {
	f.t.Helper()
	must(f.t, f.redis[2].Pause())
	before := len(f.load.Log())
	down := regexp.MustCompile(`"name":"` + regexp.QuoteMeta(f.redis[2].Addr()) + `","up":false`)
	for _, name := range []string{"orders-1", "orders-2"} {
		f.load.await(name+" marks the node on its page", func() bool {
			return down.MatchString(get(f.t, "http://"+f.here[name+":17379"]+"/debug/locks?format=json"))
		})
	}
	f.alerted("DistributedLockNodeDown", f.redis[2].Addr())
	f.load.await("charges go on without redis-3",
		func() bool { return strings.Contains(f.load.Log()[before:], "200 OK: ") })
	must(f.t, f.redis[2].Resume())
}

// checkLeak plants a leak as README.md says, which is found, alerted about, and
// removed.
func (f *fleet) checkLeak() {
	f.t.Helper()
	const key = "lock:import"
	for _, server := range f.redis {
		must(f.t, client(f.t, server).Set(f.t.Context(), key, "8Q5xLzCgV2rEJwJ7yYtSIA==", 0).Err())
	}
	f.alerted("DistributedLockLeaked", "")
	if page := get(f.t, "http://"+f.here["lockscope:17379"]+"/debug/locks?format=json"); !strings.Contains(page,
		`"import"`) {
		f.t.Errorf("the page of lockscope does not show the leak:\n%s", page)
	}
	repair := start(f.t, f.environment("lockscope"), programs+"lockscope", "scan", "--confirm-after=50ms",
		"--min-age=0s", "--repair", "delete", "--yes", "--audit-log", "/dev/stderr")
	<-repair.Done()
	for _, server := range f.redis {
		if client(f.t, server).Exists(f.t.Context(), key).Val() != 0 {
			f.t.Errorf("%s still has the leak; scan --repair said\n%s", server.Addr(), repair.Log())
		}
	}
}

// silence is for how long a node that restarted does not vote at least: its uptime is
// believed to the second.
const silence = lock.DefaultMaxTTL

// checkQuorum kills a majority as README.md says. Charges are refused until the nodes
// are back, and for as long afterwards as a lock that they forgot could be valid. The
// next start of the stack would not shorten that.
func (f *fleet) checkQuorum() {
	f.t.Helper()
	for _, server := range f.redis[:3] {
		must(f.t, server.Kill())
	}
	// At first those that are left may still tell of who held the lock, which is 423.
	f.orders[0].await("charges are refused for want of a quorum", func() bool {
		status, header := f.charge("orders-1")
		return status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
	})
	f.alerted("DistributedLockAcquireErrorBudgetBurn", "")
	back := time.Now()
	for _, server := range f.redis[:3] {
		must(f.t, server.Restart(f.t.Context()))
	}
	if said := f.init(); !strings.Contains(said, "not new") {
		f.t.Errorf("init vouches for nodes that restarted:\n%s", said)
	}
	f.orders[0].await("its page tells of the restarts", func() bool {
		return strings.Contains(get(f.t, "http://"+f.here["orders-1:17379"]+"/debug/locks?format=json"),
			`"witnessed":true`)
	})
	f.orders[0].awaitFor(silence+patience, "charges go on", func() bool {
		status, _ := f.charge("orders-1")
		return status == http.StatusOK
	})
	if took := time.Since(back); took < silence {
		f.t.Errorf("charges went on after %v, when locks that the nodes may have forgotten could be valid", took)
	}
}

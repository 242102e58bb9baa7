package scanner_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

const registryID = "8743c9c0-0795-4907-87fd-6c719a6b4586" // one that a process keeps for life

// idleFor sets how long nobody has used a key.
func idleFor(t *testing.T, c redis.UniversalClient, key string, idle time.Duration) {
	t.Helper()
	text, err := c.Dump(within(t), key).Result()
	must(t, err)
	ttl := max(0, c.PTTL(within(t), key).Val().Milliseconds())
	seconds := int(idle.Seconds())
	must(t, c.Do(within(t), "restore", key, ttl, text, "replace", "idletime", seconds).Err())
}

// keptValues plants keys whose holder uses the same value again for its next hold: one without a TTL, and one with.
func keptValues(t *testing.T, c redis.UniversalClient) {
	t.Helper()
	must(t, c.FlushAll(within(t)).Err())
	set(t, c, "lock:spring", registryID, 0)
	must(t, c.HSet(within(t), "lock:redisson", registryID[:35]+"7:42", 1).Err())
	set(t, c, "lock:long", registryID[:35]+"8", 20*time.Hour)
}

// again releases a key of keptValues and acquires it anew, as its holder does.
func again(t *testing.T, c redis.UniversalClient, key string) {
	t.Helper()
	must(t, c.Del(within(t), key).Err())
	switch key {
	case "lock:spring":
		set(t, c, key, registryID, 0)
	case "lock:redisson":
		must(t, c.HSet(within(t), key, registryID[:35]+"7:42", 1).Err())
	case "lock:long":
		set(t, c, key, registryID[:35]+"8", 20*time.Hour)
	}
}

// TestPlanOfAValueThatAProcessKeeps: a key that was released and acquired anew has the planned value, but is left
// alone. A key that nobody has used is repaired. A dry run does not count as use.
func TestPlanOfAValueThatAProcessKeeps(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	keys := []string{"lock:spring", "lock:redisson", "lock:long"}
	for way, client := range repairers(t, f) {
		for _, retaken := range []bool{false, true} {
			keptValues(t, c)
			clk := &clock{}
			opts := []scanner.Option{scanner.WithRepairMinAge(10 * time.Minute), scanner.WithNow(clk.now)}
			p := carried(t, planOf(t, newScanner(t, []redis.UniversalClient{client}, opts...), inspect.NoTTL,
				inspect.LongTTL))
			run := begin(t, newScanner(t, []redis.UniversalClient{client}, opts...), p)
			clk.pass(11 * time.Minute)
			for _, key := range keys {
				at := step(t, p, key)
				if !p.Steps[at].Kept {
					t.Errorf("%s: the plan does not say that a process may keep the value of %s", way, key)
				}
				if key == "lock:long" {
					must(t, c.PExpire(within(t), key, 20*time.Hour-11*time.Minute).Err())
				}
				idleFor(t, c, key, 11*time.Minute)
				if retaken {
					again(t, c, key)
				}
				for _, dry := range []bool{true, true, false} {
					r, err := run.Apply(within(t), at, dry)
					want := inspect.Done
					if dry {
						want = inspect.WouldDo
					}
					switch {
					case retaken && (!errors.Is(err, repair.ErrNotRepairable) ||
						!strings.Contains(err.Error(), "acquired again")):
						t.Errorf("%s: %s was taken anew: %s, %v", way, key, r.Outcome, err)
					case !retaken && (err != nil || r.Outcome != want):
						t.Errorf("%s: %s: dry %v: %s, %v", way, key, dry, r.Outcome, err)
					}
				}
				if there := c.Exists(within(t), key).Val() == 1; there != retaken {
					t.Errorf("%s: %s, taken anew %v: there %v", way, key, retaken, there)
				}
			}
		}
	}
}

// TestPlanWithoutIdleTime: if the server does not report idle times, no key is planned or touched, and the reason names
// the remedy.
func TestPlanWithoutIdleTime(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	keptValues(t, c)
	p := planOf(t, newScanner(t, []redis.UniversalClient{c}), inspect.NoTTL)
	must(t, c.ConfigSet(within(t), "maxmemory-policy", "allkeys-lfu").Err())
	run := begin(t, newScanner(t, []redis.UniversalClient{c}), p)
	for _, key := range []string{"lock:spring", "lock:redisson"} {
		_, err := run.Apply(within(t), step(t, p, key), false)
		there := c.Exists(within(t), key).Val() == 1
		if !errors.Is(err, repair.ErrNotRepairable) || !strings.Contains(err.Error(), "LFU") || !there {
			t.Errorf("%s: %v, there %v", key, err, there)
		}
	}
	without := planOf(t, newScanner(t, []redis.UniversalClient{c}), inspect.NoTTL)
	if len(without.Steps) != 0 || len(without.Refused) != 2 || !strings.Contains(without.Refused[0].Reason, "LFU") {
		t.Errorf("%+v", without)
	}
}

// TestPlanOfAKeptValueNamesItsGrants: a user that may repair only by script learns which further rights such a key
// needs.
func TestPlanOfAKeptValueNamesItsGrants(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	keptValues(t, c)
	rules := scanner.ListACL()
	for _, rule := range scanner.RepairACL() {
		if rule != "+watch" {
			rules = append(rules, rule)
		}
	}
	client := []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), c, rules)}
	p := planOf(t, newScanner(t, f.clients), inspect.NoTTL)
	_, err := begin(t, newScanner(t, client), p).Apply(within(t), step(t, p, "lock:spring"), false)
	const grants = "grant +watch: a value that a process may reuse needs +watch +multi +exec +object|idletime"
	if err == nil || !strings.Contains(err.Error(), grants) {
		t.Errorf("%v", err)
	}
	limited := planOf(t, newScanner(t, client), inspect.NoTTL)
	if len(limited.Refused) != 2 || !strings.Contains(limited.Refused[0].Reason, grants) {
		t.Errorf("%+v", limited)
	}
}

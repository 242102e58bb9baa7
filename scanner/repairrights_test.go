package scanner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

// TestRepairWithoutOneRight applies a plan as users that lack one right each, with scripts and without. What is
// reported is what happened: a key whose repair failed is there, and the error names the command that the server
// refused. MULTI is the dangerous one: without it, commands sent in one go would act outside of the transaction.
func TestRepairWithoutOneRight(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	keptValues(t, c)
	set(t, c, "lock:redsync", redsyncValue, 0)
	p := planOf(t, newScanner(t, f.clients), inspect.NoTTL)
	for way, all := range map[string][]string{"script": scripted(true), "watch": scripted(false)} {
		for _, less := range append([]string{""}, all...) {
			keptValues(t, c)
			idleFor(t, c, "lock:spring", time.Hour)
			idleFor(t, c, "lock:redisson", time.Hour)
			set(t, c, "lock:redsync", redsyncValue, 0)
			must(t, c.Do(within(t), "ACL", "LOG", "RESET").Err())
			rules := slices.DeleteFunc(slices.Clone(all), func(rule string) bool { return rule == less })
			user := []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), c, rules)}
			run := begin(t, newScanner(t, user), p)
			for _, key := range []string{"lock:redsync", "lock:spring", "lock:redisson"} {
				r, err := run.Apply(within(t), step(t, p, key), false)
				there := c.Exists(within(t), key).Val() == 1
				if what := misreported(r, err, there, less); what != "" {
					t.Errorf("%s without %q: %s: %s, %v: %s", way, less, key, r.Outcome, err, what)
				}
			}
			if refused := refusedOf(t, c); less == "" && len(refused) > 0 {
				t.Errorf("%s with all rights: refused %q", way, refused)
			}
		}
	}
}

// scripted are the rules of a user that repairs, with those for scripts or without.
func scripted(yes bool) []string {
	return slices.DeleteFunc(append(scanner.ListACL(), scanner.RepairACL()...), func(rule string) bool {
		return !yes && strings.Contains(rule, "eval") || strings.Contains(rule, "cluster")
	})
}

// refusedOf has what the server refused, except scripts, which are tried first.
func refusedOf(t *testing.T, c redis.UniversalClient) (all []string) {
	t.Helper()
	log, err := c.(*redis.Client).ACLLog(within(t), 100).Result()
	must(t, err)
	for _, entry := range log {
		if !strings.HasPrefix(entry.Object, "eval") && entry.Object != "client|no-touch" &&
			entry.Object != "client" { // none of them is needed; Redis 6.2 names no subcommand
			all = append(all, entry.Object)
		}
	}
	return all
}

// misreported says what is wrong with the result of a step that deletes a key, or "".
func misreported(r repair.Result, err error, there bool, less string) string {
	switch {
	case err == nil && r.Outcome == inspect.Done:
		if there {
			return "the key is there"
		}
	case !there:
		return "the key is gone"
	case less == "":
		return "nothing is refused"
	case errors.Is(err, repair.ErrNotRepairable):
		return ""
	case err == nil || !strings.Contains(fmt.Sprint(err), "grant "):
		return "no rule is named"
	}
	return ""
}

// TestRepairOfAChangedKeySendsNoUnwatch: the server refuses UNWATCH to a user with the rules of RepairACL. A change is
// reported all the same, and nothing is refused.
func TestRepairOfAChangedKeySendsNoUnwatch(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	user := []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), c, scripted(false))}
	if err := user[0].Do(within(t), "unwatch").Err(); !redis.HasErrorPrefix(err, "NOPERM") {
		t.Fatalf("unwatch: %v", err)
	}
	set(t, c, "lock:redsync", redsyncValue, 0)
	s := newScanner(t, user)
	finding := find(t, sweep(t, s).Findings, inspect.NoTTL, "lock:redsync")
	set(t, c, "lock:redsync", randomToken(), 0)
	must(t, c.Do(within(t), "ACL", "LOG", "RESET").Err())
	repaired(t, s, finding, repair.Delete(), inspect.Changed)
	if refused := refusedOf(t, c); len(refused) > 0 {
		t.Errorf("refused %q", refused)
	}
}

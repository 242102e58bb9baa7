package scanner_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// planOf sweeps, and plans to delete the findings.
func planOf(t *testing.T, s *scanner.Scanner, classes ...inspect.Class) repair.Plan {
	t.Helper()
	p, err := s.Plan(within(t), sweep(t, s), "ada", repair.Delete(), classes...)
	must(t, err)
	return p
}

// carried returns the plan as another process reads it.
func carried(t *testing.T, p repair.Plan) repair.Plan {
	t.Helper()
	text, err := json.MarshalIndent(p, "", "  ")
	must(t, err)
	read, err := repair.Read(bytes.NewReader(text))
	must(t, err)
	return read
}

func begin(t *testing.T, s *scanner.Scanner, p repair.Plan) *scanner.PlanRun {
	t.Helper()
	run, err := s.Begin(p)
	must(t, err)
	return run
}

// step returns the step of a key.
func step(t *testing.T, p repair.Plan, key string) int {
	t.Helper()
	for i, s := range p.Steps {
		if s.Key == key {
			return i
		}
	}
	t.Fatalf("no step for %s in %+v", key, p.Steps)
	return 0
}

// TestPlanIsCarriedOut by another process, once its findings are old enough, in both ways to repair.
func TestPlanIsCarriedOut(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for way, client := range repairers(t, f) {
		must(t, c.FlushAll(within(t)).Err())
		plant(t, c, time.Now())
		clk := &clock{}
		opts := []scanner.Option{scanner.WithRepairMinAge(10 * time.Minute), scanner.WithNow(clk.now)}
		p := carried(t, planOf(t, newScanner(t, []redis.UniversalClient{client}, opts...), inspect.NoTTL,
			inspect.HeldTooLong, inspect.ForeignType))
		if len(p.Steps) != 9 || len(p.Refused) != 11 || p.Operator != "ada" || len(p.ID) != 32 || len(p.Servers) != 1 {
			t.Fatalf("%s: %d steps, %d refused: %+v", way, len(p.Steps), len(p.Refused), p)
		}
		run := begin(t, newScanner(t, []redis.UniversalClient{client}, opts...), p)
		for i := range p.Steps {
			if r, err := run.Apply(within(t), i, false); !errors.Is(err, repair.ErrTooYoung) ||
				!strings.Contains(err.Error(), "wait another 10m0s") && !strings.Contains(err.Error(), "wait another 9m5") {
				t.Errorf("%s: %s at once: %s, %v", way, p.Steps[i].Key, r.Outcome, err)
			}
		}
		clk.pass(11 * time.Minute)
		for i := range p.Steps {
			key, err := base64.StdEncoding.DecodeString(p.Steps[i].KeyBase64)
			must(t, err)
			idleFor(t, c, string(key), 11*time.Minute)
			for _, want := range []inspect.Outcome{inspect.WouldDo, inspect.Done,
				inspect.Gone} {
				if r, err := run.Apply(within(t), i, want == inspect.WouldDo); err != nil || r.Outcome != want {
					t.Errorf("%s: %s: %s, %v, want %s", way, p.Steps[i].Key, r.Outcome, err, want)
				}
			}
		}
		if n := c.Exists(within(t), "lock:setnx:leak", "lock:redsync:ok", "lock:redsync:long", "lockscope:fence:{1}",
			"lock:list", "other:1").Val(); n != 6 {
			t.Errorf("%s: %d of 6 bystanders are left", way, n)
		}
	}
}

// TestPlanMeetsAnotherHolder changes one thing at a time between plan and act.
func TestPlanMeetsAnotherHolder(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	for way, client := range repairers(t, f) {
		for name, change := range map[string]func(key string) error{
			"other value":  func(k string) error { return c.Set(within(t), k, redsyncOf("another"), 0).Err() },
			"got a TTL":    func(k string) error { return c.Expire(within(t), k, time.Hour).Err() },
			"longer value": func(k string) error { return c.Append(within(t), k, "x").Err() },
			"other type": func(k string) error {
				c.Del(within(t), k)
				return c.HSet(within(t), k, redissonID+":1",
					1).Err()
			},
		} {
			must(t, c.FlushAll(within(t)).Err())
			set(t, c, "lock:leak", redsyncValue, 0)
			s := newScanner(t, []redis.UniversalClient{client})
			run := begin(t, s, carried(t, planOf(t, s, inspect.NoTTL)))
			must(t, change("lock:leak"))
			before := c.Dump(within(t), "lock:leak").Val()
			if r, err := run.Apply(within(t), 0, false); err != nil || r.Outcome != inspect.Changed {
				t.Errorf("%s: %s: %s, %v", way, name, r.Outcome, err)
			}
			if c.Dump(within(t), "lock:leak").Val() != before {
				t.Errorf("%s: %s: the key was touched", way, name)
			}
		}
	}
}

// TestPlanHasNoSecret, but has everything that an approver needs.
func TestPlanHasNoSecret(t *testing.T) {
	f := startNodes(t, 1)
	plant(t, f.clients[0], time.Now())
	text, err := json.Marshal(planOf(t, newScanner(t, f.clients), inspect.NoTTL, inspect.HeldTooLong, inspect.LongTTL))
	must(t, err)
	for _, secret := range []string{token[:31], redsyncValue[:22], redislockVal[:10], redissonID, redissonID[9:],
		shedLockUUID} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%q is in the plan", secret)
		}
	}
	for _, want := range []string{`"first_seen"`, `"evidence":"its TTL is -1`, `"class":"no_ttl"`, `"action":"delete"`,
		`"operator":"ada"`, `"refused":[{`, "may be the same for every owner"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not in the plan", want)
		}
	}
}

// TestPlansThatAreNotCarriedOut: of another version, of yesterday, for other servers, or edited by hand.
func TestPlansThatAreNotCarriedOut(t *testing.T) {
	f := startNodes(t, 2)
	set(t, f.clients[0], "lock:leak", redsyncValue, 0)
	clk := &clock{}
	s := newScanner(t, f.clients[:1], scanner.WithNow(clk.now))
	p := planOf(t, s, inspect.NoTTL)
	wrong := func(name string, err error, says string) {
		t.Helper()
		if !errors.Is(err, repair.ErrInvalidPlan) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
	text, err := json.Marshal(p)
	must(t, err)
	for name, c := range map[string]struct{ old, new, says string }{
		"another key":    {p.Steps[0].KeyBase64, "bG9jazpvdGhlcg==", "was changed"},
		"another action": {`"action":"delete"`, `"action":"expire=1ms"`, "was changed"},
		"older":          {p.Steps[0].FirstSeen.Format(time.RFC3339Nano), "2020-01-01T00:00:00Z", "was changed"},
		"no id":          {p.ID, "", "was changed"},
		"schema":         {`"schema":1`, `"schema":2`, "schema is 2"},
		"a new field":    {`"schema":1`, `"schema":1,"force":true`, "another version"},
		"no JSON":        {`{`, `[`, "not a plan"},
	} {
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if changed == string(text) {
			t.Errorf("%s: nothing was changed", name)
		}
		_, err := repair.Read(strings.NewReader(changed))
		wrong(name, err, c.says)
	}
	edited := p
	edited.Operator = "eve"
	_, err = s.Begin(edited)
	wrong("edited", err, "make a new plan")
	_, err = newScanner(t, f.clients[1:]).Begin(p)
	wrong("another server", err, "it is for "+f.servers[0].Addr())
	_, err = newScanner(t, f.clients).Begin(p)
	wrong("one server more", err, "not for")
	early := newScanner(t, f.clients[:1], scanner.WithNow(func() time.Time { return time.Now().Add(-time.Hour) }))
	_, err = early.Begin(p)
	wrong("of the future", err, "clocks")
	clk.pass(repair.Life - time.Minute)
	run := begin(t, s, p)
	clk.pass(2 * time.Minute)
	_, err = s.Begin(p)
	wrong("expired", err, "expired")
	if r, err := run.Apply(within(t), 0, true); err != nil || r.Outcome != inspect.WouldDo {
		t.Errorf("begun in time: %s, %v", r.Outcome, err)
	}
	if _, err := s.Plan(within(t), report.Report{}, "", repair.Action{}); !errors.Is(err, repair.ErrInvalidAction) {
		t.Errorf("no action: %v", err)
	}
	must(t, s.Close())
	if _, err := s.Begin(p); !errors.Is(err, scanner.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestPlanOfAnOrphan: the other nodes are compared once more.
func TestPlanOfAnOrphan(t *testing.T) {
	f := startNodes(t, 3)
	value := lockscopeValue(token, time.Now())
	set(t, f.clients[0], "lock:a", value, time.Hour/2)
	set(t, f.clients[0], "lock:b", lockscopeValue(tokenOf("b"), time.Now()), time.Hour/2)
	s := newScanner(t, f.clients, scanner.WithOneRedlock())
	p := planOf(t, s, inspect.Orphan)
	if len(p.Steps) != 2 {
		t.Fatalf("%+v", p)
	}
	unsaid := begin(t, newScanner(t, f.clients), p)
	if _, err := unsaid.Apply(within(t), 0, false); !errors.Is(err, repair.ErrIncomplete) {
		t.Errorf("not known to be one Redlock: %v", err)
	}
	run := begin(t, s, p)
	set(t, f.clients[1], "lock:a", value, time.Hour/2) // on two of three nodes
	if r, err := run.Apply(within(t), step(t, p, "lock:a"), false); err != nil || r.Outcome != inspect.Changed {
		t.Errorf("held by now: %s, %v", r.Outcome, err)
	}
	must(t, f.servers[1].Kill())
	must(t, f.servers[2].Kill())
	if r, err := run.Apply(within(t), step(t, p, "lock:b"), false); !errors.Is(err, repair.ErrIncomplete) {
		t.Errorf("the others are down: %s, %v", r.Outcome, err)
	}
	if n := f.clients[0].Exists(within(t), "lock:a", "lock:b").Val(); n != 2 {
		t.Errorf("%d of 2 locks are left", n)
	}
}

// TestPlanInACluster is carried out on each master, but not on keys whose slot is moving.
func TestPlanInACluster(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := clusterClient(t, cl)
	ctx := within(t)
	for _, key := range []string{"lock:a", "lock:b", "lock:c", "lock:d", "lock:{moving}"} {
		set(t, c, key, redsyncOf(key), 0)
	}
	s := newScanner(t, []redis.UniversalClient{c})
	p := carried(t, planOf(t, s, inspect.NoTTL))
	if len(p.Steps) != 5 || len(p.Refused) != 0 || len(p.Gaps) != 0 {
		t.Fatalf("%+v", p)
	}
	halfMove(t, cl, c, "lock:{moving}", "lock:{moving}")
	run := begin(t, s, p)
	for i, step := range p.Steps {
		r, err := run.Apply(ctx, i, false)
		if step.Key == "lock:{moving}" {
			if !errors.Is(err, repair.ErrIncomplete) || r.Outcome != "" {
				t.Errorf("on the move: %s, %v", r.Outcome, err)
			}
		} else if err != nil || r.Outcome != inspect.Done {
			t.Errorf("%s: %s, %v", step.Key, r.Outcome, err)
		}
	}
	if n := c.Exists(ctx, "lock:{moving}").Val(); n != 1 {
		t.Error("the key on the move is gone")
	}
}

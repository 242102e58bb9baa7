package scanner_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/repair"
)

// sameValues are what one process or host writes for each of its leases, and tokens that look alike.
func sameValues() map[string]string {
	return map[string]string{
		"uuid":      registryID,
		"container": strings.Repeat("9f86d081884c7d65", 4),
		"machine":   "3f2c9a6ec7a911f0b5d20242ac120002",
		"commit":    "1145d9399f86d081884c7d659a2feaa0c55ad015",
		"ulid":      "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		"jwt":       "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3b3JrZXItNyJ9.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1gFWFOEjXkE",
		"redislock": redislockVal,
	}
}

// TestPlanOfAValueTakenAnew: every value that its process may write again is asked for its use. A lock that was
// released and taken again is left alone, also a moment after the plan, and whenever it expires.
func TestPlanOfAValueTakenAnew(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	midnight := time.Now().Add(20 * time.Hour)
	take := func(key, value string) {
		t.Helper()
		must(t, c.Del(within(t), key).Err())
		set(t, c, key, value, 0)
		if strings.HasSuffix(key, "midnight") {
			must(t, c.ExpireAt(within(t), key, midnight).Err())
		}
	}
	for what, value := range sameValues() {
		take("lock:"+what, value)
		take("lock:"+what+":free", value[:len(value)-1]+"7")
	}
	take("lock:midnight", registryID[:35]+"8")
	s := newScanner(t, []redis.UniversalClient{c})
	p := carried(t, planOf(t, s, inspect.NoTTL, inspect.LongTTL))
	run := begin(t, s, p)
	for i, planned := range p.Steps {
		if !planned.Kept {
			t.Errorf("%s: the plan does not say that its process may use the value again", planned.Key)
		}
		free := strings.HasSuffix(planned.Key, ":free")
		if !free {
			take(planned.Key, c.Get(within(t), planned.Key).Val())
		}
		r, err := run.Apply(within(t), i, false)
		there := c.Exists(within(t), planned.Key).Val() == 1
		switch {
		case free && (err != nil || r.Outcome != inspect.Done || there):
			t.Errorf("%s, which nobody used: %s, %v", planned.Key, r.Outcome, err)
		case !free && (!errors.Is(err, repair.ErrNotRepairable) || !there):
			t.Errorf("%s was taken anew: %s, %v, there %v", planned.Key, r.Outcome, err, there)
		}
	}
	if len(p.Steps) != 2*len(sameValues())+1 {
		t.Errorf("%d steps", len(p.Steps))
	}
}

// TestRepairLeavesLeasesOfLockscope: a holder that renews its lease would not hear of a repair until its next renewal.
func TestRepairLeavesLeasesOfLockscope(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	set(t, c, "lock:held", lockscopeValue(token, time.Now().Add(-3*time.Hour)), 10*time.Second)
	set(t, c, "lock:long", lockscopeValue(token[1:]+"0", time.Now()), 20*time.Hour)
	s := newScanner(t, f.clients)
	findings := sweep(t, s).Findings
	refused(t, s, find(t, findings, inspect.HeldTooLong, "lock:held"), repair.ErrNotRepairable, "lockscope revoke")
	p := planOf(t, s, inspect.HeldTooLong, inspect.LongTTL)
	if len(p.Steps) != 1 || len(p.Refused) != 1 || !strings.Contains(p.Refused[0].Reason, "lockscope revoke") {
		t.Fatalf("%+v", p)
	}
	must(t, c.Expire(within(t), "lock:long", 21*time.Hour).Err()) // its holder is alive, too
	r, err := begin(t, s, p).Apply(within(t), 0, false)
	if !errors.Is(err, repair.ErrNotRepairable) || c.Exists(within(t), "lock:long").Val() != 1 {
		t.Errorf("renewed since the plan: %s, %v", r.Outcome, err)
	}
}

// TestPlanWatchesValuesThatMayBeReused: a lock that was taken anew while the plan was made is not in the plan.
func TestPlanWatchesValuesThatMayBeReused(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	keptValues(t, c)
	s := newScanner(t, f.clients)
	found := sweep(t, s)
	var p repair.Plan
	var err error
	made := make(chan struct{})
	go func() {
		defer close(made)
		p, err = s.Plan(within(t), found, "ada", repair.Delete(), inspect.NoTTL)
	}()
	eventually(t, "the plan watches", func() bool {
		return strings.Count(c.ClientList(within(t)).Val(), "cmd=watch") == 2
	})
	again(t, c, "lock:spring")
	<-made
	must(t, err)
	if len(p.Steps) != 1 || p.Steps[0].Key != "lock:redisson" || len(p.Refused) != 1 ||
		!strings.Contains(p.Refused[0].Reason, "changed while the plan was made") {
		t.Errorf("%+v", p)
	}
}

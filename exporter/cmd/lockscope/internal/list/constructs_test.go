package list

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestListShowsConstructs reads an election, a set and a semaphore off the nodes.
func TestListShowsConstructs(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Constructs(t, servers)
	args := []string{"list", "--redis", cmdtest.Addrs(servers...)}
	var r document
	cmdtest.Eventually(t, "the waiters and one deadlock", func() bool {
		r = document{}
		command(t, append(args, "-o", "json")...).Decode(t, &r)
		return len(r.Deadlocks) > 0 && waitsOf(r, "leader") == 2 && waitsOf(r, "jobs#0") == 1 && waitsOf(r, "order") == 1
	})
	if len(r.Deadlocks) != 1 || r.Deadlocks[0] != "billing-1 holds leader and waits for stock; billing-2 holds stock and waits for leader" {
		t.Errorf("deadlocks %q, want the election and the lock", r.Deadlocks)
	}
	for _, l := range r.Locks {
		kind, slots, inUse := "", 0, -1
		switch l.Resource {
		case "leader":
			kind = "election"
		case "a", "b":
			kind = "set"
		case "jobs#0", "jobs#1":
			kind, slots, inUse = "semaphore", 3, 2
		}
		if string(l.Kind) != kind || l.Slots != slots || (l.SlotsInUse == nil) != (inUse < 0) ||
			l.SlotsInUse != nil && *l.SlotsInUse != inUse || string(l.Holder.Kind) != kind {
			t.Errorf("%s: kind %q, %d slots, in use %v", l.Resource, l.Kind, l.Slots, l.SlotsInUse)
		}
	}
	o := command(t, args...)
	o.Want(t, o.Status, "KIND", "election, term ", "2 candidates, ", "semaphore, 2 of 3 slots in use", "set", "DEADLOCK:")
	if row := rowWith(o.Out, "semaphore, "); !strings.HasPrefix(row, "jobs ") || !strings.Contains(row, "2 holders") {
		t.Errorf("the semaphore: %q", row)
	}
	cmdtest.Eventually(t, "the waiter for a slot is listed with its semaphore", func() bool {
		o = command(t, append(args, "--waiters")...)
		o.Want(t, o.Status, "WAITED FOR")
		return strings.HasPrefix(rowWith(o.Out, "order\n"), "jobs ")
	})
	o = command(t, append(args, "--slots")...)
	o.Want(t, o.Status, "jobs#0 ", "jobs#1 ")
	for filter, want := range map[string]string{
		"jobs": "semaphore, 2 of 3 slots in use", "jobs#?": "semaphore, 2 of 3 slots in use",
		"jobs#1": "semaphore, 3 slots", // the other slots were not asked for
	} {
		o = command(t, append(args, "--filter", filter)...)
		o.Want(t, o.Status, want)
		if row := rowWith(o.Out, "semaphore, 3 slots"); row != "" && !strings.HasPrefix(row, "jobs#1 ") {
			t.Errorf("one slot of a semaphore: %q", row)
		}
	}
}

// rowWith is the first line that has a text.
func rowWith(out, text string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// TestSemaphoreRow: what the row of a semaphore says of slots that differ, and of one that leaked.
func TestSemaphoreRow(t *testing.T) {
	at := time.Now()
	slot := func(n, nodes int, holder string, held, ttl time.Duration) listing.Lock {
		return listing.Lock{Resource: records.SlotName("pool", n), Key: records.SlotName("lock:pool", n), At: at,
			Nodes: nodes, Of: 3, TTL: ttl, LongestTTL: ttl, Hold: inspect.Hold{Holder: lock.Holder{
				Instance: holder, Since: at.Add(-held), Kind: lock.KindSemaphore, Slots: 5}}}
	}
	p := &part{waits: waits{listing.NoWaits()}, wanted: func(string) bool { return true }}
	row := func(locks ...listing.Lock) string {
		p.listing.Locks = locks
		p.countSlots()
		l := &overview{parts: []*part{p}}
		for _, k := range locks {
			l.locks = append(l.locks, entry{k, p})
		}
		rows := l.rows(false)
		if len(rows) != 1 {
			t.Errorf("%d rows", len(rows))
		}
		return strings.Join(rowOf(rows[0], false, true), "|")
	}
	minute := time.Minute
	for want, locks := range map[string][]listing.Lock{
		"pool|semaphore, 1 of 5 slots in use|3/3|a|1m00s|8.0s|-|": {slot(4, 3, "a", minute, 8*time.Second)},
		"pool|semaphore, 2 of 5 slots in use|3/3|a|2m00s|never|-|": {slot(0, 3, "a", minute, time.Second),
			slot(1, 3, "a", 2*minute, -1)},
		"pool|semaphore, 1 of 5 slots in use|1/3|a|1m00s|9.0s|-|slot 3: no majority: a leftover or an attempt under way": {
			slot(0, 3, "a", minute, time.Second), slot(3, 1, "b", 0, 9*time.Second)},
	} {
		if got := row(locks...); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

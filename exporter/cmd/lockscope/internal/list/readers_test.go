package list

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestListShowsReaders reads a read/write lock off the nodes: one row, with its readers and the waiting writer. A cycle
// through one of two readers is a deadlock; without it, the writer just waits.
func TestListShowsReaders(t *testing.T) {
	for _, deadlock := range []bool{true, false} {
		servers := locktest.Servers(t, 3)
		cmdtest.ReadWrite(t, servers, deadlock)
		args := []string{"list", "--redis", cmdtest.Addrs(servers...)}
		var r document
		cmdtest.Eventually(t, "both readers on all nodes, and the waiting writer", func() bool {
			r = document{}
			command(t, append(args, "-o", "json")...).Decode(t, &r)
			return readBy(r, "prices", len(servers)) == 2 && writersOf(r, "prices") == 1 &&
				(!deadlock || len(r.Deadlocks) > 0)
		})
		if got := len(r.Deadlocks); (got == 1) != deadlock {
			t.Errorf("deadlocks %q", r.Deadlocks)
		}
		for _, l := range r.Locks {
			if l.Resource != "prices" {
				continue
			}
			if l.Kind != "read" || l.Readers != 2 || len(l.ReadBy) != 2 || l.ReadBy[0].Nodes != 3 ||
				!strings.HasPrefix(l.ReadBy[0].Holder.Name, "worker-3") || l.ReadBy[1].TTL < 30 || l.Nodes != 3 ||
				l.Waiting == nil || l.Waiting.Writers != 1 {
				t.Errorf("%+v", l)
			}
		}
		o := command(t, args...)
		row := rowWith(o.Out, "prices ")
		for _, want := range []string{"read/write lock, 2 readers", "2 holders", ", 1 to write"} {
			if !strings.Contains(row, want) {
				t.Errorf("%q is not in the row %q of\n%s", want, row, o.Out)
			}
		}
	}
}

// readBy is how many readers so many nodes have.
func readBy(r document, resource string, nodes int) (readers int) {
	for _, l := range r.Locks {
		for _, by := range l.ReadBy {
			if l.Resource == resource && by.Nodes == nodes {
				readers++
			}
		}
	}
	return readers
}

// writersOf is how many processes that wait for a lock say that they want to write.
func writersOf(r document, resource string) int {
	for _, l := range r.Locks {
		if l.Resource == resource && l.Waiting != nil {
			return l.Waiting.Writers
		}
	}
	return 0
}

// TestListShowsLeakedReaders: a key of readers that never expires after their time, and a reader on a minority.
func TestListShowsLeakedReaders(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for _, s := range servers {
		cmdtest.SetReader(t, cmdtest.Admin(t, s), "lock:stays", -time.Hour, 0)
	}
	cmdtest.SetReader(t, cmdtest.Admin(t, servers[1]), "lock:few", time.Minute, time.Minute)
	args := []string{"list", "--redis", cmdtest.Addrs(servers...)}
	o := command(t, args...)
	for resource, wants := range map[string][]string{
		"stays ": {"0/3", "worker-7/42", "never", "the time of its readers is over: a leftover"},
		"few ":   {"1/3", "worker-7/42", "no majority: a leftover"},
	} {
		for _, want := range wants {
			if row := rowWith(o.Out, resource); !strings.Contains(row, want) {
				t.Errorf("%q is not in the row %q of\n%s", want, row, o.Out)
			}
		}
	}
	var r document
	command(t, append(args, "-o", "json")...).Decode(t, &r)
	for _, l := range r.Locks {
		if l.Held || l.State != lockNotHeld || l.Kind != "read" || (l.TTL == nil) != (l.Resource == "stays") {
			t.Errorf("%+v", l)
		}
	}
}

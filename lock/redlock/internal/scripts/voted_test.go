package scripts

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// process returns the INFO of a server, for a guard.
type process string

func (p process) Info(context.Context) (string, error) {
	return "run_id:" + string(p) + "\r\nrole:master\r\nuptime_in_seconds:3600\r\nmaxmemory_policy:noeviction\r\n", nil
}
func (process) Marker(context.Context) (string, error)                     { return "", nil }
func (process) Ask(context.Context, guard.Ask) (a guard.Answer, err error) { return a, nil }

// replica returns the INFO of a server that follows another.
type replica struct{ process }

func (replica) Info(context.Context) (string, error) { return "run_id:r\r\nrole:slave\r\n", nil }

// TestAVoteOfAServerThatBecameUnfitDoesNotCount: another connection found that out while this vote was under way.
func TestAVoteOfAServerThatBecameUnfitDoesNotCount(t *testing.T) {
	g := guard.New(guard.Config{Node: "n1", Servers: guard.NewServers(),
		Clock: func() time.Duration { return time.Hour }})
	if _, err := g.Examine(t.Context(), process("a")); err != nil {
		t.Fatal(err)
	}
	granted := any(int64(42))
	if reply, err := New().Voted(g, g.Latest(), "lock:job", granted); err != nil || !reply.Granted {
		t.Errorf("a server that may vote: %+v, %v", reply, err)
	}
	if _, err := g.Examine(t.Context(), replica{}); err != nil {
		t.Fatal(err)
	}
	if _, err := New().Voted(g, g.Latest(), "lock:job", granted); !errors.Is(err, driver.ErrReplica) {
		t.Errorf("a replica: %v", err)
	}
}

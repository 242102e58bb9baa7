package standalone

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// vote is an answer to an acquire.
type vote struct {
	reply driver.AcquireReply
	err   error
}

// votes counts answers.
type votes chan vote

func (v votes) Answer(reply driver.AcquireReply, err error) { v <- vote{reply, err} }

// process returns the INFO of a server, for a guard.
type process string

func (p process) Info(context.Context) (string, error) {
	return "run_id:" + string(p) + "\r\nrole:master\r\nuptime_in_seconds:3600\r\nmaxmemory_policy:noeviction\r\n", nil
}
func (process) Marker(context.Context) (string, error)                     { return "", nil }
func (process) Ask(context.Context, guard.Ask) (a guard.Answer, err error) { return a, nil }

// TestAConnectionVotesByItsOwnSight: the run_id of a connection is compared with the process that this connection leads
// to. What another connection of the node has met, before or since, must not matter: with the run_id of another
// process, a stale snapshot of that process would vote.
func TestAConnectionVotesByItsOwnSight(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = client.Close() })
	began := time.Now()
	g := guard.New(guard.Config{
		Node: "n1", Servers: guard.NewServers(), Clock: func() time.Duration { return time.Since(began) },
		Quarantine: time.Minute, Enforce: true, Fingerprint: "ours",
	})
	const timeout = 10 * time.Second
	n := New(client, g, scripts.New(), lanes.Config{Clock: g.Clock, Timeout: timeout})
	t.Cleanup(func() { _ = n.Close() })
	info, err := guard.Master(client.Info(t.Context()).Val())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Set(t.Context(), guard.MarkerKey, "voting|ours|"+info.Incarnation()+"|0", 0).Err(); err != nil {
		t.Fatal(err)
	}
	acquire := func(key string) vote {
		answer := make(votes, 1)
		call := driver.Call{Context: t.Context(), Deadline: time.Now().Add(timeout)}
		n.Acquire(call, &driver.AcquireRequest{Key: key, Token: strings.Repeat("a", driver.TokenLength),
			TTL: time.Minute, Floor: 1}, answer)
		return <-answer
	}
	if v := acquire("lock:1"); v.err != nil || !v.reply.Granted {
		t.Fatalf("%+v, %v", v.reply, v.err)
	}
	sight, err := g.Examine(t.Context(), process("another"))
	if err != nil || g.Latest() != sight || sight.RunID() != "another" {
		t.Fatalf("%+v, %v", g.Latest(), err)
	}
	if v := acquire("lock:2"); v.err != nil || !v.reply.Granted {
		t.Errorf("on the connection that was there before: %+v, %v", v.reply, v.err)
	}
}

package redlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// vote is an answer to an acquire.
type vote struct {
	reply driver.AcquireReply
	err   error
}

// votes takes answers.
type votes chan vote

func (v votes) Answer(reply driver.AcquireReply, err error) { v <- vote{reply, err} }

// process is a server as INFO has it, for a guard.
type process string

func (p process) Info(context.Context) (string, error) {
	return "run_id:" + string(p) + "\r\nrole:master\r\nuptime_in_seconds:3600\r\nmaxmemory_policy:noeviction\r\n", nil
}
func (process) Marker(context.Context) (string, error)                     { return "", nil }
func (process) Ask(context.Context, guard.Ask) (a guard.Answer, err error) { return a, nil }

// TestAConnectionVotesByItsOwnSight: what a connection carries is compared with the process that it leads to, whatever another
// connection of this node has met since, or before, and was late to say: with the run_id of another process a stale snapshot of that one would
// vote.
func TestAConnectionVotesByItsOwnSight(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = client.Close() })
	began := time.Now()
	g := guard.New(guard.Config{
		Node: "n1", Servers: guard.NewServers(), Clock: func() time.Duration { return time.Since(began) },
		Quarantine: Quarantine(lock.DefaultMaxTTL), Enforce: true, Fingerprint: "ours",
	})
	const timeout = 10 * time.Second
	k := newConnector(client, derivation{clock: g.Clock, timeout: timeout})
	n := newNode(k, "n1", g, &shared{scripts: newScripts(), keys: newKeyCache()}, timeout)
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
		n.Acquire(call, &driver.AcquireRequest{Key: key, Token: token("a"), TTL: time.Minute, Floor: 1}, answer)
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

// replica is a server that follows another.
type replica struct{ process }

func (replica) Info(context.Context) (string, error) { return "run_id:r\r\nrole:slave\r\n", nil }

// TestAVoteOfAServerThatBecameUnfitDoesNotCount: another connection has found out while this vote was under way.
func TestAVoteOfAServerThatBecameUnfitDoesNotCount(t *testing.T) {
	g := guard.New(guard.Config{Node: "n1", Servers: guard.NewServers(), Clock: func() time.Duration { return time.Hour }})
	if _, err := g.Examine(t.Context(), process("a")); err != nil {
		t.Fatal(err)
	}
	granted := any(int64(42))
	if reply, err := voted(g, g.Latest(), newKeyCache(), "lock:job", granted); err != nil || !reply.Granted {
		t.Errorf("a server that may vote: %+v, %v", reply, err)
	}
	if _, err := g.Examine(t.Context(), replica{}); err != nil {
		t.Fatal(err)
	}
	if _, err := voted(g, g.Latest(), newKeyCache(), "lock:job", granted); !errors.Is(err, driver.ErrReplica) {
		t.Errorf("a replica: %v", err)
	}
}

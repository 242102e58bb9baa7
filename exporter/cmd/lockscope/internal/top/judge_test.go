package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func infoOf(runID string, more ...string) string {
	return fmt.Sprintf("run_id:%s\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n%s\r\n", runID,
		strings.Join(more, "\r\n"))
}

// markerOf is what a server of three nodes that votes has.
func markerOf(runID string) string {
	of := guard.NewFingerprint([]string{"a", "b", "c"}, lock.DefaultMaxTTL)
	return fmt.Sprintf("%s|%s|%s|0", guard.Voting, string(of), runID)
}

// quarantineOf is the marker of a server in its quarantine of a minute, which began that long ago.
func quarantineOf(runID string, since time.Duration) string {
	began := time.Now().Add(-since).UnixMilli()
	return fmt.Sprintf("%s|id|%d|%d|%d", strings.Replace(markerOf(runID), "voting", "quarantine", 1), 61000, began, began)
}

// shaky is a node that missed 13 of 100 looks.
var shaky = decorate.NodeView{State: decorate.NodeShaky, Calls: 100, Failures: 13}

type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

// said is a server that answers so.
func said(info, marker string) health { return health{said: guard.Account{Info: info, Marker: marker}} }

func TestJudge(t *testing.T) {
	votes := func(id string) health { return said(infoOf(id), markerOf(id)) }
	for name, c := range map[string]struct {
		last  health // of the third node; the others vote
		state string
		why   string
	}{
		"votes":  {votes("3"), state.NodeUp, ""},
		"silent": {health{err: &silentError{time.Second}}, state.NodeDown, "no answer within 1s"},
		"restarted": {said(infoOf("new"), markerOf("3")), state.NodeQuarantined,
			"restarted or wiped"},
		"wiped": {said(infoOf("3"), ""), state.NodeQuarantined, "restarted or wiped"},
		"replica": {said(strings.Replace(infoOf("3"), "master", "slave", 1), ""), state.NodeBarred,
			"read-only replica"},
		"evicting": {said(infoOf("3", "maxmemory:1", "maxmemory_policy:allkeys-lru"), ""), state.NodeBarred,
			"allkeys-lru"},
		"out of memory": {said(infoOf("3", "maxmemory:10", "used_memory:11"), ""), state.NodeBarred,
			"out of memory"},
		"loading":          {health{err: replyError("LOADING Redis is loading")}, state.NodeBarred, "loading its data"},
		"needs a password": {health{err: replyError("NOAUTH Authentication required.")}, state.NodeBarred, "NOAUTH"},
		"INFO is refused":  {health{said: guard.Account{Err: errors.New("NOPERM")}}, state.NodeUp, "grant +info"},
		"other configuration": {said(infoOf("3"), strings.Replace(markerOf("3"), "voting|", "voting|x", 1)),
			state.NodeBarred, "another configuration"},
		"left": {said(infoOf("3"), "changing|4:60000:abc|3|0|left-change-1|60602|0|0|3:60000:ab"), state.NodeBarred,
			"it left its set by a change to 4 nodes"},
		"in quarantine": {said(infoOf("3"), quarantineOf("3", time.Second)), state.NodeQuarantined,
			"votes again in 1m00s"},
		"its quarantine is over": {said(infoOf("3"), quarantineOf("3", time.Hour)), state.NodeUp,
			"it votes when a service asks"},
		"missed one look": {health{err: &silentError{time.Second}, seen: shaky}, state.NodeShaky,
			"13% of its answers are missing, now: no answer within 1s"},
		"missed looks before": {health{said: votes("3").said, seen: shaky}, state.NodeShaky,
			"13% of its answers are missing"},
		"a cable was pulled": {health{err: fmt.Errorf("dial: %w", errors.New("no route"))}, state.NodeDown, "no route"},
	} {
		nodes := make([]*node, 3)
		for i := range nodes {
			nodes[i] = &node{name: fmt.Sprint(i), client: redis.NewClient(&redis.Options{})}
		}
		got := judge(nodes, []health{votes("1"), votes("2"), c.last}, guard.Config{}, time.Now())
		for _, n := range nodes {
			_ = n.client.Close()
		}
		if got[2].State != c.state || !strings.Contains(got[2].Why, c.why) || c.why == "" && got[2].Why != "" {
			t.Errorf("%s: %s, %q", name, got[2].State, got[2].Why)
		}
		if got[0].State != state.NodeUp || got[1].State != state.NodeUp {
			t.Errorf("%s: the others are %s and %s", name, got[0].State, got[1].State)
		}
	}
}

package instrument_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestNoTokenIsTold reads the token from real servers and looks for it in every span, log record, metric and error,
// after success, refusal, loss and failure.
func TestNoTokenIsTold(t *testing.T) {
	servers := locktest.Servers(t, 3)
	s, text := new(spans), new(logText)
	opts := []instrument.Option{
		instrument.WithTracerProvider(s.provider()), instrument.WithLogger(text.logger()),
		instrument.WithLongWait(20 * time.Millisecond),
	}
	a, b := wrap(t, onRedis(t, addrs(servers)), opts...), wrap(t, onRedis(t, addrs(servers)), opts...)
	admin := redis.NewClient(&redis.Options{Addr: servers[2].Addr()})
	defer admin.Close()
	tokens := make(map[string]bool)
	var told strings.Builder
	note := func(err error) {
		fmt.Fprintf(&told, "%v %+v %#v\n", err, err, err)
	}
	// The third node may keep the previous token for a while: a quorum has released it, and the others follow. Renewals
	// then bring it the new one.
	read := func() {
		eventually(t, "the third node has the lock, under a new token", func() bool {
			token, _, _ := strings.Cut(admin.Get(t.Context(), "lock:order:1001").Val(), ":")
			if len(token) != 32 || tokens[token] {
				return false
			}
			tokens[token] = true
			return true
		})
	}
	lease, err := a.Acquire(t.Context(), "order:1001", lock.TTL(5*time.Second))
	must(t, err)
	read()
	_, err = b.Acquire(t.Context(), "order:1001", lock.NoWait())
	note(err)
	_, err = b.Acquire(t.Context(), "order:1001", lock.MaxWait(100*time.Millisecond))
	note(err)
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	lease, err = b.Acquire(t.Context(), "order:1001", lock.TTL(4*time.Second))
	must(t, err)
	read()
	must(t, servers[0].Pause())
	must(t, servers[1].Pause())
	<-lease.Context().Done()
	note(lease.Extend(t.Context()))
	note(lease.Release(t.Context()))
	_, err = a.Acquire(t.Context(), "order:1001", lock.NoWait())
	note(err)
	must(t, servers[0].Resume())
	must(t, servers[1].Resume())
	for _, msg := range []string{"lease lost", "renewal failed", "no quorum", "still waiting", "already gone"} {
		eventually(t, "a record of "+msg, func() bool { return strings.Contains(text.String(), msg) })
	}
	if log := text.String(); !strings.Contains(log, "blocker=") || !strings.Contains(log, "blocker_trace_id=") {
		t.Errorf("the long wait names no blocker: %s", log)
	}
	var page bytes.Buffer
	for _, l := range []*instrument.Locker{a, b} {
		for _, f := range families(t, l) {
			page.WriteString(f.String())
		}
	}
	told.WriteString(text.String() + page.String() + s.text())
	if !strings.Contains(s.text(), "EVALSHA lock.release") || !strings.Contains(page.String(), "wait_seconds") {
		t.Fatal("nothing to look through")
	}
	if len(tokens) != 2 {
		t.Fatalf("%d tokens, want 2", len(tokens))
	}
	for token := range tokens {
		if strings.Contains(told.String(), token) || strings.Contains(told.String(), token[:8]) {
			t.Errorf("a token is told: %s", told.String())
		}
	}
	if strings.Contains(told.String(), "redis.call") {
		t.Error("the text of a script is told")
	}
}

// TestNoArgumentIsTold: a server's error quotes the arguments of the command, and so a part of the token.
func TestNoArgumentIsTold(t *testing.T) {
	servers := locktest.Servers(t, 1, redisproc.WithArgs("--rename-command", "EVALSHA", "gone"))
	s, text := new(spans), new(logText)
	l := wrap(t, onRedis(t, addrs(servers)), instrument.WithTracerProvider(s.provider()),
		instrument.WithLogger(text.logger()))
	if _, err := l.Acquire(t.Context(), "job", lock.NoWait()); !strings.Contains(err.Error(), "unknown command") {
		t.Fatalf("the server does not complain: %v", err)
	}
	eventually(t, "the log tells", func() bool { return strings.Contains(text.String(), "redis replied ERR") })
	if told := text.String() + s.text(); strings.Contains(told, "tomb") || strings.Contains(told, "evalsha") {
		t.Errorf("the command is told: %s", told)
	}
}

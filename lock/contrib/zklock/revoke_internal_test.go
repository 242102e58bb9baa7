package zklock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const longTTL = time.Minute

// granted holds a lock with a new place, and returns what names it.
func granted(t *testing.T, n *node) (token string, p *place) {
	t.Helper()
	token = fmt.Sprintf("%032x", 1)
	req := driver.AcquireRequest{Key: "a", Token: token, TTL: time.Second, Floor: 1, Holder: "web-1|1|"}
	p, _ = n.begin(req)
	reply, err := n.enter(p, req, false)
	if err != nil || !reply.Granted {
		t.Fatalf("%+v, %v", reply, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p.expiry.Reset(longTTL)
	p.ends = longTTL
	return token, p
}

func extended(t *testing.T, n *node, token string) (driver.ExtendReply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longTTL)
	defer cancel()
	return n.Extend(ctx, driver.ExtendRequest{Key: "a", Token: token, TTL: 5 * time.Second, Holder: "web-1|1|"})
}

// marked revokes the grant that holds the lock.
func marked(t *testing.T, n *node) driver.RevokeReply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longTTL)
	defer cancel()
	held, err := n.Revoke(ctx, driver.RevokeRequest{Key: "a"})
	if err != nil || held.Grant == "" || held.Record != "" {
		t.Fatalf("%+v, %v", held, err)
	}
	reply, err := n.Revoke(ctx, driver.RevokeRequest{Key: "a", Grant: held.Grant, Record: "ops|0|why"})
	if err != nil || reply.Record != "ops|0|why" {
		t.Fatalf("%+v, %v", reply, err)
	}
	return reply
}

func wantRefused(t *testing.T, reply driver.ExtendReply, err error) {
	t.Helper()
	if mark, ok := errors.AsType[*driver.RevokedError](err); !ok || mark.Record != "ops|0|why" {
		t.Errorf("extended: %v, %v", reply, err)
	}
}

// TestRevokedPlaceEndsAsBefore: a renewal that is refused gives the place no more time, and one that succeeds does.
func TestRevokedPlaceEndsAsBefore(t *testing.T) {
	n := startNode(t)
	token, p := granted(t, n)
	ends := func() time.Duration {
		n.mu.Lock()
		defer n.mu.Unlock()
		return p.ends
	}
	if reply, err := extended(t, n, token); err != nil || reply != driver.ExtendDone || ends() != 5*time.Second {
		t.Fatalf("%v, %v; it ends at %v", reply, err, ends())
	}
	n.mu.Lock()
	p.ends = longTTL
	n.mu.Unlock()
	marked(t, n)
	reply, err := extended(t, n, token)
	if wantRefused(t, reply, err); ends() != longTTL {
		t.Errorf("it ends at %v", ends())
	}
}

// TestMarkIsNotOverwritten by a write that this process began before it knew of the mark, nor by the record of a waiter
// that has the lock for a moment.
func TestMarkIsNotOverwritten(t *testing.T) {
	n := startNode(t)
	token, p := granted(t, n)
	marked(t, n)
	n.tellHolder(p)
	path, data := n.recordOf(p)
	if _, err := n.write(t.Context(), p, path, data); err == nil {
		t.Error("a late renewal was written")
	}
	reply, err := extended(t, n, token)
	wantRefused(t, reply, err)
	for range 2 { // each attempt of the holder
		reply, err = extended(t, n, token)
		wantRefused(t, reply, err)
	}
}

// TestRenewalWithoutAnAnswer is no mark: the next renewal finds its own record, and goes on.
func TestRenewalWithoutAnAnswer(t *testing.T) {
	n := startNode(t)
	token, p := granted(t, n)
	path, data := n.recordOf(p)
	if _, err := n.link.Set(path, data, 0); err != nil {
		t.Fatal(err)
	}
	if reply, err := extended(t, n, token); err != nil || reply != driver.ExtendDone {
		t.Errorf("%v, %v", reply, err)
	}
	if got := marked(t, n); got.TTL != 5*time.Second+n.link.allowed()*3/2 {
		t.Errorf("it may exist for %v", got.TTL)
	}
}

// TestRevokeOfAGrantThatIsGone marks nobody.
func TestRevokeOfAGrantThatIsGone(t *testing.T) {
	n := startNode(t)
	token, _ := granted(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), longTTL)
	defer cancel()
	reply, err := n.Revoke(ctx, driver.RevokeRequest{Key: "a", Grant: "1", Record: "ops|0|why"})
	if err != nil || !reply.Held || reply.Grant == "1" || reply.Record != "" {
		t.Errorf("%+v, %v", reply, err)
	}
	if reply, err := extended(t, n, token); err != nil || reply != driver.ExtendDone {
		t.Errorf("%v, %v", reply, err)
	}
}

// TestParse: data of other libraries has no record.
func TestParse(t *testing.T) {
	const own = "1000/2500|web-1|7|"
	if s := parse(record(time.Second, 2500*time.Millisecond, "web-1|7|"), 9); s != (stored{
		ttl: time.Second, session: 2500 * time.Millisecond, holder: "web-1|7|", written: 9}) {
		t.Errorf("%+v", s)
	}
	if s := parse(withMark([]byte(own), 9, "ops|0|why|x"), 12); s.mark != "ops|0|why|x" || s.written != 9 ||
		s.holder != "web-1|7|" {
		t.Errorf("%+v", s)
	}
	for _, data := range []string{"", "10.0.0.7", "1000|web-1|7|", "1000/2500|web-1", "x/2500|a|7|", "0/1|a|7|",
		"99999999999999999999/1|a|7|", "9223372036854775/1|a|7|"} {
		if s := parse([]byte(data), 9); s != (stored{}) {
			t.Errorf("%q: %+v", data, s)
		}
	}
	if left := parse([]byte("1000/0|a|7|"), 9).longest(); left >= 0 {
		t.Errorf("a session that is not known: %v", left)
	}
}

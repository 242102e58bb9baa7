package locktest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesRevokeScripts is TestFakeMatchesScripts for revokes between the other requests.
func TestFakeMatchesRevokeScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for seed := range uint64(40) {
		pair := newPair(t, client, seed)
		pair.scripts["revoke"] = readScript(t, "marker", "revoke")
		for step := range 60 {
			real, fake, what := pair.revokeStep(step)
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
}

// revokeStep sends both the same request. Tokens are of this step or of the few before, as marks stay.
func (p *pair) revokeStep(step int) (real, fake, what string) {
	token := strings.Repeat(fmt.Sprintf("%x", (step/8+p.r.IntN(2))%16), driver.TokenLength)
	key := p.keys.lock
	switch p.r.IntN(7) {
	case 0, 1:
		return p.acquire(driver.AcquireRequest{Key: key, Token: token, Holder: "h|" + token[:1], TTL: time.Minute, Floor: 1})
	case 2, 3:
		return p.extend(driver.ExtendRequest{
			Key: key, Token: token, TTL: time.Minute, Refill: p.r.IntN(2) == 0, Fence: 1, Holder: "h|" + token[:1],
		})
	case 4:
		return p.release(driver.ReleaseRequest{Key: key, Token: token, Tombstone: time.Duration(p.r.IntN(2)) * time.Minute})
	case 5:
		return p.revoke(driver.RevokeRequest{Key: key})
	}
	return p.revoke(driver.RevokeRequest{
		Key: key, Grant: driver.GrantOf(token), Record: fmt.Sprintf("ops|%d|why", step), Keep: time.Hour,
	}, token)
}

// revoke marks the grants of these tokens.
func (p *pair) revoke(req driver.RevokeRequest, tokens ...string) (real, fake, what string) {
	keys := []string{p.keys.lock}
	for _, token := range tokens {
		keys = append(keys, p.keys.tombstone(token))
	}
	if len(tokens) == 0 {
		keys = append(keys, "nobody")
	}
	reply := p.eval("revoke", keys, req.Record, req.Keep.Milliseconds(), len(tokens), "").([]any)
	if len(reply) > 2 {
		reply[2] = reply[2].(int64) > 50_000 // the TTL is about a minute
	}
	got, err := p.node.Revoke(p.ctx(), req)
	if err != nil {
		p.t.Fatal(err)
	}
	var records, readers []any
	if req.Grant != "" {
		records = append(records, got.Record)
	}
	for _, grant := range req.Readers {
		records = append(records, got.Readers[slices.IndexFunc(got.Readers, named(grant))].Record)
	}
	for _, r := range got.Readers {
		if r.Held {
			readers = append(readers, []any{r.Grant, r.TTL > 50*time.Second, r.Counter, r.Holder})
		}
	}
	want := []any{0, records}
	switch {
	case got.ByReaders:
		want = []any{2, records, got.TTL > 50*time.Second, inOrder(readers)}
		for _, r := range reply[3].([]any) {
			r.([]any)[1] = r.([]any)[1].(int64) > 50_000
		}
		reply[3] = inOrder(reply[3].([]any))
	case got.Held:
		want = []any{1, records, got.TTL > 50*time.Second, got.Counter, got.Holder, got.Grant}
	}
	return fmt.Sprint(reply), fmt.Sprint(want), fmt.Sprintf("revoke %.1s %q", tokens, req.Record)
}

func named(grant string) func(driver.RevokeReader) bool {
	return func(r driver.RevokeReader) bool { return r.Grant == grant }
}

// inOrder sorts readers by what they are: a server lists them in any order.
func inOrder(readers []any) []string {
	var all []string
	for _, r := range readers {
		all = append(all, fmt.Sprint(r))
	}
	slices.Sort(all)
	return all
}

// TestFakeMatchesRevokeOfReaders is TestFakeMatchesRevokeScripts for readers, beside writers of the same lock.
func TestFakeMatchesRevokeOfReaders(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	outcomes := make(map[string]int)
	for seed := range uint64(40) {
		pair := sharedPair{newPair(t, client, seed), outcomes}
		for _, name := range []string{"acquire", "extend", "release"} {
			pair.scripts["rw"+name] = readScript(t, "marker", "handoff", "rwshared", "rw"+name)
		}
		pair.scripts["revoke"] = readScript(t, "marker", "revoke")
		for step := range 80 {
			real, fake, what := pair.revokeReadersStep(step)
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s",
					seed, step, what, real, fake, strings.Join(pair.history, "\n"))
			}
			pair.history = append(pair.history, what+": "+real)
		}
		pair.close()
	}
	for _, outcome := range []string{"r granted", "w granted", "r tombstone", "extended", "extend of a revoked reader"} {
		if outcomes[outcome] < 10 {
			t.Errorf("%s: %d times: the sequences do not compare it", outcome, outcomes[outcome])
		}
	}
}

// revokeReadersStep is revokeStep for readers. A mark is for two of them, present or not.
func (p sharedPair) revokeReadersStep(step int) (real, fake, what string) {
	token := func() string { return strings.Repeat(fmt.Sprintf("%x", (step/8+p.r.IntN(3))%16), driver.TokenLength) }
	key, one, other := p.keys.lock, token(), token()
	mode := driver.Read
	if p.r.IntN(2) == 0 {
		mode = driver.Write
	}
	switch p.r.IntN(12) {
	case 0, 1, 2:
		return p.acquireShared(driver.AcquireRequest{Key: key, Token: one, Holder: "h|" + one[:1], TTL: time.Minute, Floor: 1,
			Mode: mode, Waiter: driver.Waiter{ID: "w0"}})
	case 3, 4, 5:
		return p.extendReader(driver.ExtendRequest{Key: key, Token: one, TTL: time.Minute, Refill: p.r.IntN(2) == 0, Fence: 1,
			Holder: "h|" + one[:1], Mode: driver.Read})
	case 6, 7, 8:
		return p.releaseShared(driver.ReleaseRequest{Key: key, Token: one, Mode: mode})
	case 9:
		return p.revoke(driver.RevokeRequest{Key: key})
	}
	req := driver.RevokeRequest{Key: key, Record: fmt.Sprintf("ops|%d|why", step), Keep: time.Hour,
		Readers: []string{driver.GrantOf(one)}}
	if one == other {
		return p.revoke(req, one)
	}
	req.Readers = append(req.Readers, driver.GrantOf(other))
	return p.revoke(req, one, other)
}

// extendRevoked is what both reply to an extend of a lease that is revoked.
func extendRevoked(reply any, err error) (real, fake string) {
	if fields, ok := reply.([]any); ok && len(fields) == 2 && fields[0] == any(int64(7)) {
		real = fmt.Sprint("revoked: ", fields[1])
	}
	if mark, ok := errors.AsType[*driver.RevokedError](err); ok {
		fake = "revoked: " + mark.Record
	}
	return real, fake
}

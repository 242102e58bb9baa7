package locktest_test

import (
	"errors"
	"fmt"
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
		pair.scripts["revoke"] = readScript(t, "revoke")
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
		return p.revoke(driver.RevokeRequest{Key: key}, token)
	}
	return p.revoke(driver.RevokeRequest{
		Key: key, Grant: driver.GrantOf(token), Record: fmt.Sprintf("ops|%d|why", step), Keep: time.Hour,
	}, token)
}

func (p *pair) revoke(req driver.RevokeRequest, token string) (real, fake, what string) {
	mark := "nobody"
	if req.Grant != "" {
		mark = p.keys.tombstone(token)
	}
	reply := p.eval("revoke", []string{p.keys.lock, mark}, req.Record, req.Keep.Milliseconds(), "").([]any)
	if len(reply) == 6 {
		reply[2] = reply[2].(int64) > 50_000 // the TTL is about a minute
	}
	got, err := p.node.Revoke(p.ctx(), req)
	if err != nil {
		p.t.Fatal(err)
	}
	want := []any{0, got.Record}
	if got.Held {
		want = []any{1, got.Record, got.TTL > 50*time.Second, got.Counter, got.Holder, got.Grant}
	}
	return fmt.Sprint(reply), fmt.Sprint(want), fmt.Sprintf("revoke %.1s %q", token, req.Record)
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

package claims

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const longTTL = time.Minute

// granted holds a lock with a new claim, which lasts for the test.
func granted(t *testing.T, p *Protocol) *Claim {
	t.Helper()
	w := want(1)
	w.Record = "web-1|1|"
	c := p.NewClaim(w, func() {})
	e, err := p.Enter(c, false)
	if err != nil || !e.Granted {
		t.Fatalf("%+v, %v", e, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expiry.Reset(longTTL)
	c.ends = longTTL
	return c
}

func renewed(t *testing.T, p *Protocol, c *Claim) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longTTL)
	defer cancel()
	return p.Renew(ctx, c, 5*time.Second, "web-1|1|")
}

// marked revokes the claim that holds the lock.
func marked(t *testing.T, p *Protocol) *Holder {
	t.Helper()
	h, err := p.Holders().Holder(t.Context(), "a")
	if err != nil || h == nil || h.Grant == "" {
		t.Fatalf("%+v, %v", h, err)
	}
	if stands, ok, err := p.Holders().Mark(t.Context(), h, "ops|0|why", 0); err != nil || !ok || stands != "ops|0|why" {
		t.Fatalf("%q, %v, %v", stands, ok, err)
	}
	return h
}

func wantRefused(t *testing.T, err error) {
	t.Helper()
	if mark, ok := errors.AsType[*driver.RevokedError](err); !ok || mark.Record != "ops|0|why" {
		t.Errorf("renewed: %v", err)
	}
}

// TestRevokedClaimEndsAsBefore: a renewal that is refused gives the claim no more time, and one that succeeds does.
func TestRevokedClaimEndsAsBefore(t *testing.T) {
	p := connect(t)
	c := granted(t, p)
	ends := func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.ends
	}
	if err := renewed(t, p, c); err != nil || ends() != 5*time.Second {
		t.Fatalf("%v; it ends at %v", err, ends())
	}
	c.mu.Lock()
	c.ends = longTTL
	c.mu.Unlock()
	marked(t, p)
	if wantRefused(t, renewed(t, p, c)); ends() != longTTL {
		t.Errorf("it ends at %v", ends())
	}
}

// TestMarkIsNotOverwritten by a write that this process began before it knew of the mark, nor by the record of a waiter
// that has the lock for a moment.
func TestMarkIsNotOverwritten(t *testing.T) {
	p := connect(t)
	c := granted(t, p)
	marked(t, p)
	p.nameHolder(c)
	path, data := p.recordOf(c)
	if err := p.write(t.Context(), c, path, data); err == nil {
		t.Error("a late renewal was written")
	}
	for range 3 { // each attempt of the holder
		wantRefused(t, renewed(t, p, c))
	}
}

// TestMarkOfARenewedClaim: a claim that is renewed between the read and the mark is read again, and a second mark leaves
// the first.
func TestMarkOfARenewedClaim(t *testing.T) {
	p := connect(t)
	c := granted(t, p)
	h, err := p.Holders().Holder(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := renewed(t, p, c); err != nil {
		t.Fatal(err)
	}
	if stands, ok, err := p.Holders().Mark(t.Context(), h, "ops|0|why", 0); err != nil || !ok || stands != "ops|0|why" {
		t.Fatalf("%q, %v, %v", stands, ok, err)
	}
	if stands, ok, err := p.Holders().Mark(t.Context(), h, "late|0|why", 0); err != nil || !ok || stands != "ops|0|why" {
		t.Errorf("%q, %v, %v", stands, ok, err)
	}
	wantRefused(t, renewed(t, p, c))
	p.remove(c.bury())
	h.Claim.data = nil // without the mark
	if stands, ok, err := p.Holders().Mark(t.Context(), h, "ops|0|why", 0); err != nil || ok {
		t.Errorf("of a claim that is gone: %q, %v, %v", stands, ok, err)
	}
}

// TestRenewalWithoutAnAnswer is no mark: the next renewal finds its own record, and goes on.
func TestRenewalWithoutAnAnswer(t *testing.T) {
	p := connect(t)
	c := granted(t, p)
	path, data := p.recordOf(c)
	if _, err := p.zk.Set(path, data, 0); err != nil {
		t.Fatal(err)
	}
	if err := renewed(t, p, c); err != nil {
		t.Error(err)
	}
	if h := marked(t, p); h.Longest != 5*time.Second+p.store.Session.Allowed()*3/2 {
		t.Errorf("it may exist for %v", h.Longest)
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

package pglock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
)

var swap = engine.RevokeRequest{By: "ops@host", Reason: "disk swap"}

// TestRevokeChangesNothingElse: the lock has the time that it had, and who may revoke reads no token.
func TestRevokeChangesNothingElse(t *testing.T) {
	s := server(t)
	l, db := locker(t, s), pool(t, s.URL("postgres"))
	lease := acquire(t, l, "job", lock.NoRenew())
	row := func() (token string, expires time.Time) {
		must(t, db.QueryRow(t.Context(), "SELECT token, expires FROM lockscope.lock").Scan(&token, &expires))
		return token, expires
	}
	token, expires := row()
	r, err := locker(t, s).Revoke(t.Context(), "job", swap)
	if must(t, err); r.FreeIn <= 0 || r.FreeIn > longTTL || r.Holders[0].Holder.Instance == "" {
		t.Errorf("%+v", r)
	}
	if same, until := row(); same != token || !until.Equal(expires) {
		t.Errorf("it had %q until %v, and has %q until %v", token, expires, same, until)
	}
	var named string
	must(t, pool(t, s.URL("service")).QueryRow(t.Context(),
		"SELECT named FROM lockscope.revoke_lease('lock:job', '', '', 0, 0, false)").Scan(&named))
	if named == "" || strings.Contains(named, token) {
		t.Errorf("the grant is called %q", named)
	}
	must(t, lease.Release(t.Context()))
}

// TestRevokedTokenArrivesLate: neither an acquire nor a refill of a revoked token has an effect, also if the lock has
// passed on.
func TestRevokedTokenArrivesLate(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("service"))}
	revoke := func() (code int, record string) {
		var named string
		const sql = "SELECT code, named, record FROM lockscope.revoke_lease('k', $1, 'ops|0|why', 60000, 0, false)"
		must(t, c.db.QueryRow(t.Context(), sql, "").Scan(&code, &named, &record))
		must(t, c.db.QueryRow(t.Context(), sql, named).Scan(&code, &named, &record))
		return code, record
	}
	extend := "SELECT lockscope.extend('k', $1, 60000, true, 1, '', false)"
	if code, _ := c.acquire("old", time.Minute); code != 1 {
		t.Fatalf("code %d", code)
	}
	if code, record := revoke(); code != 0 || record != "ops|0|why" {
		t.Errorf("revoked: code %d, mark %q", code, record)
	}
	if code, _ := c.acquire("old", time.Minute); code != 3 {
		t.Errorf("granted again: code %d", code)
	}
	if code := c.number(extend, "old"); code != -3 {
		t.Errorf("extended: %d", code)
	}
	c.number("SELECT what FROM lockscope.release('k', 'old', 0, 0, '', 0, '')")
	if code, _ := c.acquire("new", time.Minute); code != 1 {
		t.Errorf("the next: code %d", code)
	}
	if code := c.number(extend, "new"); code != 1 {
		t.Errorf("the next is not extended: %d", code)
	}
	c.number("SELECT what FROM lockscope.release('k', 'new', 0, 0, '', 0, '')")
	if code := c.number(extend, "old"); code != 0 {
		t.Errorf("put back: %d", code)
	}
	if code, _ := revoke(); code != 1 {
		t.Errorf("nobody holds it: code %d", code)
	}
}

// TestRevokeOfAnOlderSchema says what to do.
func TestRevokeOfAnOlderSchema(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	_, err := db.Exec(t.Context(), "DROP FUNCTION lockscope.revoke_lease", pgx.QueryExecModeExec)
	must(t, err)
	_, err = locker(t, s).Revoke(t.Context(), "job", swap)
	if !errors.Is(err, lock.ErrNoQuorum) || !strings.Contains(err.Error(), "pglock.Migrate") {
		t.Errorf("%v", err)
	}
	must(t, pglock.Migrate(t.Context(), db, pglock.DefaultSchema))
}

// TestRevokedReaderArrivesLate: neither an acquire nor a refill of its token has an effect, and the next reader in its
// row is one like any other.
func TestRevokedReaderArrivesLate(t *testing.T) {
	s := server(t)
	l := locker(t, s)
	one := held(t, rw(t, l).RLock)
	c := calls{t, pool(t, s.URL("postgres"))}
	var token string
	must(t, c.db.QueryRow(t.Context(), "SELECT token FROM lockscope.reader WHERE counter = $1", one.Fence()).Scan(&token))
	_, err := l.Revoke(t.Context(), "prices", engine.RevokeRequest{By: "ops@host", Reason: "disk swap", Readers: true})
	must(t, err)
	wantErr(t, one.Extend(t.Context()), lock.ErrLost)
	late := func() (code int) {
		must(t, c.db.QueryRow(t.Context(), "SELECT code FROM lockscope.acquire_shared('lock:prices', $1, false, 'h|1|', "+
			"60000, 0, 'w', 0, false, '', 0, 0, 0, false)", token).Scan(&code))
		return code
	}
	if code := late(); code != 3 {
		t.Errorf("granted again: code %d", code)
	}
	must(t, one.Release(t.Context()))
	if code := late(); code != 3 {
		t.Errorf("granted after its release: code %d", code)
	}
	const extend = "SELECT lockscope.extend_reader('lock:prices', $1, 60000, true, 1, '')"
	if code := c.number(extend, token); code != 0 {
		t.Errorf("put back: %d", code)
	}
	next := held(t, rw(t, l).RLock)
	must(t, next.Extend(t.Context()))
	must(t, next.Release(t.Context()))
}

func held(t testing.TB, acquire func(context.Context, ...lock.AcquireOption) (lock.Lease, error)) lock.Lease {
	t.Helper()
	lease, err := acquire(t.Context(), lock.NoRenew(), lock.TTL(longTTL))
	must(t, err)
	return lease
}

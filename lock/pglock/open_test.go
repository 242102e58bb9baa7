package pglock_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// TestMalformedConnectionStrings may have a password where pgx finds none. Their errors show nothing of them.
func TestMalformedConnectionStrings(t *testing.T) {
	for _, text := range []string{
		"host=db user=app password = 's3cr3t' sslmode=bogus",
		`host=db user=app password='it\'s s3cr3t' sslmode=bogus`,
		`host=db user=app password=my\ s3cr3t sslmode=bogus`,
		"pgsql://app:s3cr3t:a:b@db", "postgres://app:s3cr3t%zz@db", "postgres://app@db:s3cr3t",
		"postgres://app@db/shop?connect_timeout=s3cr3t", "host=db pool_max_conns=s3cr3t",
		"s3cr3t",
	} {
		_, opened := pglock.Open(text)
		wantErr(t, opened, lock.ErrInvalidNode)
		errs := map[string]error{"Open": opened}
		if !strings.Contains(text, "pool_") {
			_, errs["WithListener"] = pglock.Open("host=db", pglock.WithListener(text))
			wantErr(t, errs["WithListener"], lock.ErrInvalidOption)
		}
		for where, err := range errs {
			_, whole := errors.AsType[*pgconn.ParseConfigError](err)
			if whole || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), where) ||
				!strings.Contains(err.Error(), "not shown") {
				t.Errorf("%s: %s: %v", text, where, err)
			}
		}
	}
	_, err := pglock.Open("host=db password = 's3cr3t' sslmode=verify-full sslrootcert=/missing.pem")
	wantErr(t, err, lock.ErrInvalidNode, fs.ErrNotExist)
	if text := err.Error(); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "/missing.pem") {
		t.Errorf("a file that is missing: %v", err)
	}
}

// TestWithConnections: eight calls share one session, and none is no number of sessions.
func TestWithConnections(t *testing.T) {
	_, err := pglock.Open("host=db", pglock.WithConnections(0))
	wantErr(t, err, lock.ErrInvalidOption)
	s := server(t)
	// A call that times out would be given a new session while the server still ends the old one.
	l := locker(t, s, pglock.WithConnections(1), pglock.WithoutListener(), lock.WithNodeTimeout(15*time.Second),
		lock.WithDefaults(lock.TTL(time.Minute)))
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			if _, err := l.Acquire(t.Context(), fmt.Sprint("job ", i)); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	var sessions int
	must(t, pool(t, s.URL("postgres")).QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE usename = 'service'").Scan(&sessions))
	if sessions != 1 {
		t.Errorf("%d sessions for commands, want 1", sessions)
	}
}

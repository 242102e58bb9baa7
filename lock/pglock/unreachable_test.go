package pglock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/pglock"
)

// patience is more than a call takes on a machine that is busy, and less than what nobody should wait for.
const patience = 4 * time.Second

// TestNobodyIsThere: the first call says so, by name and cause, in about the time a call may take; the end of the
// engine waits for nothing.
func TestNobodyIsThere(t *testing.T) {
	deaf, err := netfault.Deaf()
	must(t, err)
	t.Cleanup(func() { must(t, deaf.Close()) })
	for name, c := range map[string]struct{ addr, cause string }{
		"refused": {"127.0.0.1:1", "connection refused"},
		"deaf":    {deaf.Addr(), "connecting takes longer than the call"},
	} {
		for how, opts := range map[string][]lock.AcquireOption{"NoWait": {lock.NoWait()},
			"MaxWait": {lock.MaxWait(patience / 2)}, "context": nil} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				l, err := pglock.Open("postgres://service:s3cr3t@" + c.addr + "/postgres")
				must(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), patience/2)
				defer cancel()
				began := time.Now()
				_, err = l.Acquire(ctx, "job", opts...)
				took := time.Since(began)
				wantErr(t, err, lock.ErrNoQuorum, driver.ErrUnreachable, driver.ErrNotSent)
				cause := c.cause
				if text := err.Error(); !strings.Contains(text, cause) { // the last attempt was cut short
					cause = "connecting takes longer than the call"
				}
				wantText(t, err, c.addr, cause)
				if n := strings.Count(err.Error(), "lockscope doctor"); n != 1 {
					t.Errorf("names doctor %d times: %v", n, err)
				}
				if took > patience {
					t.Errorf("it took %v", took)
				}
				began = time.Now()
				must(t, l.Close())
				if took := time.Since(began); took > patience {
					t.Errorf("Close took %v", took)
				}
			})
		}
	}
}

// wantText finds in the error of the one node there is all that it should say, on one line and without a password.
func wantText(t *testing.T, err error, says ...string) {
	t.Helper()
	var node *lock.NodeError
	if !errors.As(err, &node) {
		t.Fatalf("no node is named: %v", err)
	}
	text := node.Error()
	for _, want := range says {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(text, "\n") {
		t.Errorf("%q", err)
	}
}

// TestAServerDies after it was reached: the next call names it and why.
func TestAServerDies(t *testing.T) {
	s := server(t)
	l := locker(t, s)
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, s.Kill())
	eventually(t, "it is told that nobody listens", func() bool {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, lock.ErrNoQuorum)
		return errors.Is(err, driver.ErrUnreachable) && strings.Contains(err.Error(), "connection refused")
	})
	must(t, s.Restart(t.Context()))
	must(t, acquire(t, l, "another").Release(t.Context())) // the crash may have undone the release of the first
}

// TestWhoIsNotLetIn is told what is wrong: the password, or that the role is not there; and not that rights are
// missing.
func TestWhoIsNotLetIn(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	_,
		err := s.Put("pg_hba.conf",
		[]byte(
			"host all postgres 127.0.0.1/32 trust\nhost all outsider 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 "+
				"scram-sha-256\n"))
	must(t, err)
	for _, sql := range []string{"ALTER ROLE service PASSWORD 's3cr3t'", "CREATE ROLE outsider LOGIN",
		"SELECT pg_reload_conf()"} {
		_, err := db.Exec(t.Context(), sql)
		must(t, err)
	}
	eventually(t, "a password is asked for", func() bool {
		conn, err := pgx.Connect(t.Context(), s.URL("service"))
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	})
	for name, c := range map[string]struct{ user, says string }{
		"right": {"service:s3cr3t", ""}, "wrong password": {"service:s3cr3t2", "correct the password"},
		"no password":   {"service", "correct the password"},
		"no such role":  {"nobody:s3cr3t", "or the name of the role"},
		"not from here": {"outsider:s3cr3t", "pg_hba.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := pglock.Open(s.URL(c.user), lock.WithNodeTimeout(2*time.Second))
			must(t, err)
			defer func() { must(t, l.Close()) }()
			lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
			if c.says == "" {
				must(t, err)
				must(t, lease.Release(t.Context()))
				return
			}
			wantErr(t, err, lock.ErrNoQuorum, driver.ErrDenied, driver.ErrNotSent)
			wantText(t, err, c.says)
			if strings.Contains(err.Error(), "Grant") {
				t.Errorf("rights are not what is missing: %v", err)
			}
		})
	}
}

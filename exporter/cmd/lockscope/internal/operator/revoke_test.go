package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// revoking revokes the lease of nightly, with an audit log at this path.
func revoking(t *testing.T, s *redisproc.Server, log string, more ...string) cmdtest.Outcome {
	t.Helper()
	return lockscope.Command(t, append([]string{"revoke", "nightly", "--redis", s.Addr(), "--node-timeout", "2s",
		"--operator", "bob", "--audit-log", log}, more...)...)
}

// TestRevoke: the statuses, and what the log has. A second operator reads who was first.
func TestRevoke(t *testing.T) {
	s, log := locktest.Servers(t, 1)[0], filepath.Join(t.TempDir(), "audit.log")
	revoking(t, s, log, "--reason", "hangs").Want(t, ui.ExitFindings, "nobody holds it")
	holder := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s})
	lease, err := holder.Acquire(t.Context(), "nightly", lock.NoRenew(), lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	revoking(t, s, log, "--reason", "hangs").Want(t, 0, `"nightly" is held by web-1/42 since `,
		"1 of 1 nodes refuse to renew it from now on", "the lock is free at the latest in ")
	o := lockscope.Command(t, "revoke", "nightly", "--redis", s.Addr(), "--node-timeout", "2s", "--operator", "eve",
		"--audit-log", log, "--reason", "hangs still")
	o.Want(t, 0, "bob revoked it before, at ", ": hangs\n")
	if err := lease.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the lease is extended: %v", err)
	}
	if cause := context.Cause(lease.Context()); cause == nil || !strings.Contains(cause.Error(), "revoked by bob") {
		t.Errorf("cause %v", cause)
	}
	content, err := os.ReadFile(log)
	cmdtest.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `intent operator="bob" act=revoke resource="nightly" holder="web-1/42"`) ||
		!strings.Contains(lines[1], "outcome=revoked marked=1/1 free_in=") || !strings.Contains(lines[2], `operator="eve"`) {
		t.Errorf("the log has\n%s", content)
	}
}

// TestRevokeIsRefused, and the holder's lease goes on.
func TestRevokeIsRefused(t *testing.T) {
	s, log := locktest.Servers(t, 1)[0], filepath.Join(t.TempDir(), "audit.log")
	holder := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s})
	lease, err := holder.Acquire(t.Context(), "nightly", lock.NoRenew(), lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	revoking(t, s, log).Want(t, ui.ExitError, "--reason is missing")
	revoking(t, s, t.TempDir(), "--reason", "hangs").Want(t, ui.ExitError, "--audit-log")
	revoking(t, s, log, "--reason", "hangs", "other").Want(t, ui.ExitError, "the name of one lock")
	cmdtest.Must(t, lease.Extend(t.Context()))
	cmdtest.Must(t, lease.Release(t.Context()))
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:nightly", "their-token", time.Minute)
	revoking(t, s, log, "--reason", "hangs").Want(t, ui.ExitError, "another library wrote this lock", "lockscope repair")
	cmdtest.Must(t, s.Kill())
	for i, kind := range [][]string{nil, {"--readers"}} { // of all these, only the attempts without a quorum are written down
		revoking(t, s, log, append(kind, "--reason", "hangs")...).Want(t, servers.ExitNoLock, "no quorum")
		content, err := os.ReadFile(log)
		cmdtest.Must(t, err)
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		if len(lines) != i+1 ||
			!strings.Contains(lines[i], ` revoke operator="bob" resource="nightly" outcome=failed error="lock: nightly: no quorum`) {
			t.Errorf("the log has\n%s", content)
		}
	}
}

// TestRevokeOnEverySystem: the holder learns who revoked its lease, and so does a reader.
func TestRevokeOnEverySystem(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (flags []string, service *engine.Engine){
		"postgres": func(t *testing.T) ([]string, *engine.Engine) {
			s := cmdtest.Postgres(t)
			return []string{"--postgres", s.URL("service")}, cmdtest.PostgresLocker(t, s, "web-1/42")
		},
		"etcd": func(t *testing.T) ([]string, *engine.Engine) {
			c, client := cmdtest.Etcd(t, 1)
			return []string{"--etcd", strings.Join(c.Endpoints(), ",")}, cmdtest.EtcdLocker(t, client, "web-1/42")
		},
		"zookeeper": func(t *testing.T) ([]string, *engine.Engine) {
			e := cmdtest.ZooKeeper(t, 1)
			return []string{"--zookeeper", strings.Join(e.Addrs(), ",")}, cmdtest.ZooKeeperLocker(t, e, "web-1/42")
		},
	} {
		t.Run(name, func(t *testing.T) {
			flags, service := open(t)
			lease, err := service.Acquire(t.Context(), "nightly", lock.NoRenew())
			cmdtest.Must(t, err)
			args := []string{"revoke", "nightly", "--reason", "hangs", "--operator", "bob", "--node-timeout", "2s",
				"--audit-log", filepath.Join(t.TempDir(), "audit.log")}
			o := lockscope.Command(t, slices.Concat(args, flags)...)
			err = lease.Extend(t.Context())
			o.Want(t, 0, `"nightly" is held by web-1/42 since `, "1 of 1 nodes refuse to renew it from now on")
			if revoked, ok := errors.AsType[*lock.RevokedError](err); !ok || revoked.By != "bob" || revoked.Reason != "hangs" {
				t.Errorf("extended: %v", err)
			}
			cmdtest.Must(t, lease.Release(t.Context()))
			rw, err := rwlock.New(service, "nightly")
			cmdtest.Must(t, err)
			reader, err := rw.RLock(t.Context(), lock.NoRenew())
			cmdtest.Must(t, err)
			o = lockscope.Command(t, slices.Concat(args, flags, []string{"--reader", "web-1/42"})...)
			err = reader.Extend(t.Context())
			o.Want(t, 0, "is read by:\n  web-1/42 since ", "1 of 1 nodes refuse to renew these leases from now on")
			if revoked, ok := errors.AsType[*lock.RevokedError](err); !ok || revoked.By != "bob" {
				t.Errorf("the reader is extended: %v", err)
			}
			cmdtest.Must(t, reader.Release(t.Context()))
		})
	}
}

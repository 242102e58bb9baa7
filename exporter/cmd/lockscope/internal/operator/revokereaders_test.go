package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// reads is a process of this name that reads nightly.
func reads(t *testing.T, s *redisproc.Server, instance string) lock.Lease {
	t.Helper()
	rw, err := rwlock.New(cmdtest.LockingProcess(t, instance, []*redisproc.Server{s}), "nightly")
	cmdtest.Must(t, err)
	lease, err := rw.RLock(t.Context(), lock.NoRenew(), lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	return lease
}

// linesOf are the lines of an audit log.
func linesOf(t *testing.T, log string) []string {
	t.Helper()
	content, err := os.ReadFile(log)
	cmdtest.Must(t, err)
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// TestRevokeReaders ends all of them, and says what the second operator has to know. The log has a line for each.
func TestRevokeReaders(t *testing.T) {
	s, log := locktest.Servers(t, 1)[0], filepath.Join(t.TempDir(), "audit.log")
	revoking(t, s, log, "--reason", "hangs", "--readers").Want(t, ui.ExitFindings, "nobody reads it")
	leases := []lock.Lease{reads(t, s, "web-1/42"), reads(t, s, "web-2/77")}
	revoking(t, s, log, "--reason", "hangs", "--readers").Want(t, 0, "\"nightly\" is read by:\n  web-1/42 since ",
		"  web-2/77 since ", "1 of 1 nodes refuse to renew these leases from now on",
		"these readers hold up a writer for ", "s at most\n")
	revoking(t, s, log, "--reason", "hangs still", "--readers").Want(t, 0, "    bob revoked it before, at ", ": hangs\n")
	for _, lease := range leases {
		if err := lease.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("the lease is extended: %v", err)
		}
		if cause := context.Cause(lease.Context()); cause == nil || !strings.Contains(cause.Error(), "revoked by bob") {
			t.Errorf("cause %v", cause)
		}
	}
	lines := linesOf(t, log)
	if len(lines) != 6 ||
		!strings.Contains(lines[0], `intent operator="bob" act=revoke resource="nightly" reader="web-1/42" since=`) ||
		!strings.Contains(lines[1], `reader="web-2/77"`) ||
		!strings.Contains(lines[2], "outcome=revoked readers=2 marked=1/1 free_in=") {
		t.Errorf("the log has\n%s", strings.Join(lines, "\n"))
	}
}

// TestRevokeReadersOfOneProcess leaves the others alone.
func TestRevokeReadersOfOneProcess(t *testing.T) {
	s, log := locktest.Servers(t, 1)[0], filepath.Join(t.TempDir(), "audit.log")
	one, other := reads(t, s, "web-1/42"), reads(t, s, "web-2/77")
	revoking(t, s, log, "--reason", "hangs", "--reader", "web-3").Want(t, ui.ExitFindings, `no reader of instance "web-3"`)
	revoking(t, s, log, "--reason", "hangs", "--reader", "web-1/42").Want(t, 0, "is read by:\n  web-1/42 since ")
	if err := one.Extend(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the lease is extended: %v", err)
	}
	cmdtest.Must(t, other.Extend(t.Context()))
	if lines := linesOf(t, log); len(lines) != 2 {
		t.Errorf("the log has\n%s", strings.Join(lines, "\n"))
	}
}

// TestRevokeReadersIsRefused, and they go on. Without a flag, revoke names the one that ends readers.
func TestRevokeReadersIsRefused(t *testing.T) {
	s, log := locktest.Servers(t, 1)[0], filepath.Join(t.TempDir(), "audit.log")
	lease := reads(t, s, "web-1/42")
	revoking(t, s, log, "--reason", "hangs").Want(t, ui.ExitError, "readers hold it", `"lockscope revoke --readers"`)
	revoking(t, s, log, "--reason", "hangs", "--readers", "--reader", "web-1/42").Want(t, ui.ExitError, "both --readers")
	revoking(t, s, log, "--readers").Want(t, ui.ExitError, "--reason is missing")
	cmdtest.Must(t, lease.Extend(t.Context()))
	cmdtest.Must(t, lease.Release(t.Context()))
	writer, err := cmdtest.LockingProcess(t, "web-2/77", []*redisproc.Server{s}).Acquire(t.Context(), "nightly",
		lock.NoRenew(), lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	revoking(t, s, log, "--reason", "hangs", "--readers").Want(t, ui.ExitFindings, "revoke its one holder instead")
	cmdtest.Must(t, writer.Extend(t.Context()))
	if lines := linesOf(t, log); len(lines) != 1 || lines[0] != "" {
		t.Errorf("the log has\n%s", strings.Join(lines, "\n"))
	}
}

package operator

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRevokeWithAFullDisk: what cannot be written down is not done.
func TestRevokeWithAFullDisk(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	lease, err := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s}).Acquire(t.Context(), "nightly",
		lock.NoRenew(), lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	revoking(t, s, "/dev/full", "--reason", "hangs").Want(t, ui.ExitError, "nothing was done")
	cmdtest.Must(t, lease.Extend(t.Context()))
	cmdtest.Must(t, lease.Release(t.Context()))
	reader := reads(t, s, "web-1/42")
	revoking(t, s, "/dev/full", "--reason", "hangs", "--readers").Want(t, ui.ExitError, "nothing was done")
	cmdtest.Must(t, reader.Extend(t.Context()))
}

//go:build unix

package operator

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestHoldSignalledBeforeItListens: a signal that comes while lockscope starts counts.
func TestHoldSignalledBeforeItListens(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&child.SignalError{Signal: syscall.SIGINT})
	var out, errOut bytes.Buffer
	status := lockscope(ctx, []string{"hold", "nightly", "--reason", "disk swap", "--operator", "ann", "--audit-log",
		filepath.Join(t.TempDir(), "log"), "--redis", locktest.Servers(t, 1)[0].Addr()}, nil, nil, &out, &errOut)
	cmdtest.Outcome{Status: status, Out: out.String(), Err: errOut.String()}.Want(t, 130, "stopped by SIGINT")
	if out.Len() > 0 {
		t.Error("it held the lock")
	}
}

// TestRunIsRevoked: a command ends, and lockscope says why, also if the command is gone at once.
func TestRunIsRevoked(t *testing.T) {
	on := []string{"--zookeeper", strings.Join(cmdtest.ZooKeeper(t, 1).Addrs(), ","), "--node-timeout", "500ms"}
	r := cmdtest.Start(t, slices.Concat([]string{"run", "nightly", "--ttl", "6s"}, on, []string{"--", "sh", "-c",
		"echo begun; exec sleep 60"})...)
	r.Says("begun")
	revoke := slices.Concat([]string{"revoke", "nightly", "--reason", "it hangs", "--operator", "bob", "--audit-log",
		filepath.Join(t.TempDir(), "log")}, on)
	cmdtest.Eventually(t, "the lease is revoked", func() bool { return lockscope.Command(t, revoke...).Status == 0 })
	r.Wait().Want(t, 128+int(syscall.SIGTERM), `"nightly" was revoked by bob at `, "it hangs: ending the command")
	lockscope.Command(t, slices.Concat([]string{"run", "nightly", "-n"}, on, []string{"--", "true"})...).Want(t, 0)
}

// TestHoldOnEverySystem: a service that is refused reads the reason.
func TestHoldOnEverySystem(t *testing.T) {
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
			log := []string{"--reason", "disk swap", "--operator", "ann", "--node-timeout", "2s", "--audit-log",
				filepath.Join(t.TempDir(), "audit.log")}
			h := cmdtest.Start(t, slices.Concat([]string{"hold", "nightly"}, flags, log)...)
			h.Says("is held by ann")
			_, err := service.Acquire(t.Context(), "nightly", lock.NoWait())
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok || held.Holder.Instance != "ann" || held.Holder.Reason != "disk swap" {
				t.Errorf("the service receives %v", err)
			}
			cmdtest.Must(t, h.Signal(syscall.SIGTERM))
			h.Wait().Want(t, 0, "is released")
			lease, err := service.Acquire(t.Context(), "nightly", lock.NoWait())
			cmdtest.Must(t, err)
			cmdtest.Must(t, lease.Release(t.Context()))
		})
	}
}

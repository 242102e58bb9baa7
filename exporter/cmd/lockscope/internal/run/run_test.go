//go:build unix

package run

import (
	"bytes"
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestRunSignalledBeforeItListens: a signal that comes while lockscope starts counts, and the command does not run.
func TestRunSignalledBeforeItListens(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&child.SignalError{Signal: syscall.SIGTERM})
	var out, errOut bytes.Buffer
	status := lockscope(ctx, shell(server(t), "echo ran"), nil, nil, &out, &errOut)
	cmdtest.Outcome{Status: status, Out: out.String(), Err: errOut.String()}.Want(t, 143, "stopped by SIGTERM")
	if out.Len() > 0 {
		t.Error("the command ran")
	}
}

// TestRunAtTheSameInstant as cron has it: of many that do not wait, one runs, although they split the votes.
func TestRunAtTheSameInstant(t *testing.T) {
	started := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, started...)
	const machines = 5
	var over sync.WaitGroup
	var mu sync.Mutex
	statuses := make(map[int]int)
	for range machines {
		l := cmdtest.LockingProcess(t, "m", started) // each machine has connections of its own
		over.Go(func() {
			j := &job{task: task{name: "nightly"}, wait: servers.Wait{None: true}}
			j.locker.TTL = 30 * time.Second
			_, err := j.acquire(t.Context(), l)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				statuses[0]++
			case lock.ReasonOf(err) == lock.ReasonHeld:
				statuses[1]++
			default:
				t.Error(err)
			}
		})
	}
	over.Wait()
	if statuses[0] != 1 || statuses[1] != machines-1 {
		t.Errorf("%v: want one that runs, and all others refused", statuses)
	}
}

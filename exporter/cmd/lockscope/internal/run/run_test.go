//go:build unix

package run

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRunIsTransparent: the command has the input, the output, the environment and the status of lockscope.
func TestRunIsTransparent(t *testing.T) {
	s := server(t)
	r := cmdtest.StartWith(t, func(c *exec.Cmd) {
		c.Stdin = strings.NewReader("from stdin\n")
		c.Env = append(c.Env, "MINE=kept", "LOCKSCOPE_TERM=of another")
	}, shell(s, `cat; echo "$MINE $LOCKSCOPE_RESOURCE $LOCKSCOPE_TERM. $LOCKSCOPE_FENCE"; echo error >&2; exit 7`)...)
	o := r.Wait()
	o.Want(t, 7, "from stdin\n", "kept nightly . ", "error\n")
	if strings.Contains(o.Out, ". 0\n") || strings.Contains(o.Out, ". \n") {
		t.Errorf("no fence: %s", o.Out)
	}
	if o.Err != "error\n" {
		t.Errorf("lockscope wrote %q", o.Err)
	}
	if n := cmdtest.Admin(t, s).Exists(t.Context(), "lock:nightly").Val(); n != 0 {
		t.Error("the lock is not released")
	}
}

// TestRunStatuses: those of the command, as a shell has them.
func TestRunStatuses(t *testing.T) {
	s := server(t)
	notExecutable := filepath.Join(t.TempDir(), "script")
	cmdtest.Must(t, os.WriteFile(notExecutable, []byte("#!/bin/sh\n"), 0o600))
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"success":          {shell(s, "exit 0"), 0, ""},
		"killed":           {shell(s, "kill -KILL $$"), 137, ""},
		"not there":        {args([]*redisproc.Server{s}, "--", "no-such-program"), child.ExitNotFound, "cannot run"},
		"not executable":   {args([]*redisproc.Server{s}, "--", notExecutable), child.ExitCannotRun, "cannot run"},
		"no --":            {args([]*redisproc.Server{s}, "true"), ui.ExitError, "NAME -- COMMAND"},
		"no name":          {[]string{"run", "--", "true"}, ui.ExitError, "NAME -- COMMAND"},
		"bad name":         {[]string{"run", "{x}", "--", "true"}, ui.ExitError, "resource name"},
		"no server":        {[]string{"run", "x", "--", "true"}, ui.ExitError, "--redis"},
		"two systems":      {shell(s, "exit 0", "--etcd", "h:1"), ui.ExitError, "several systems"},
		"standard input":   {[]string{"run", "x", "--redis-file", "-", "--", "true"}, ui.ExitError, "standard input"},
		"long TTL":         {shell(s, "exit 0", "--ttl", "5m"), ui.ExitError, "--max-ttl"},
		"wait and not":     {shell(s, "exit 0", "-n", "-w", "1s"), ui.ExitError, "--no-wait"},
		"shared and slots": {shell(s, "exit 0", "-s", "--slots", "2"), ui.ExitError, "--slots"},
		"shared and not":   {shell(s, "exit 0", "-s", "-x"), ui.ExitError, "--exclusive"},
		"no server there":  {shell(nobody(t), "exit 0", "-n"), servers.ExitNoLock, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			o := command(t, c.args...)
			o.Want(t, c.status, c.says)
			if c.says == "" && o.Err != "" {
				t.Errorf("lockscope wrote %q", o.Err)
			}
		})
	}
}

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

// nobody is a server that has ended.
func nobody(t *testing.T) *redisproc.Server {
	t.Helper()
	s := server(t)
	cmdtest.Must(t, s.Kill())
	return s
}

// TestRunQuietSaysTheRest: a lock that never ends is not one that another machine has, and no server is an error.
func TestRunQuietSaysTheRest(t *testing.T) {
	s := server(t)
	cmdtest.Must(t, cmdtest.Admin(t, s).Set(t.Context(), lock.DefaultPrefix+"nightly", "token", 0).Err())
	command(t, shell(s, "exit 0", "-n", "-q", "-E", "0")...).Want(t, 0,
		`"nightly" is held by unnamed; it never ends: delete the key`)
	command(t, shell(nobody(t), "exit 0", "-n", "-q", "-E", "0")...).Want(t, servers.ExitNoLock, "no quorum")
}

// TestRunRefused: one line says who holds the lock, and since when.
func TestRunRefused(t *testing.T) {
	s := server(t)
	ran := filepath.Join(t.TempDir(), "ran")
	holder := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s})
	lease, err := holder.Acquire(t.Context(), "nightly")
	cmdtest.Must(t, err)
	for status, more := range map[int][]string{1: {"-n"}, 75: {"-w", "3s", "-E", "75"}, 0: {"-w", "0", "-E", "0"}} {
		o := command(t, shell(s, "touch "+ran, more...)...)
		o.Want(t, status, `"nightly" is held by web-1/42 since `+time.Now().UTC().Format("2006-01-"))
		if strings.Count(o.Err, "\n") != 1 || o.Out != "" {
			t.Errorf("not one line: %q, %q", o.Err, o.Out)
		}
	}
	for status, more := range map[int][]string{1: {"-n", "-q"}, 75: {"-w", "1s", "-E", "75", "--quiet"}} {
		if o := command(t, shell(s, "touch "+ran, more...)...); o.Status != status || o.Err != "" || o.Out != "" {
			t.Errorf("%v: status %d, %q, %q", more, o.Status, o.Err, o.Out)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the command ran")
	}
	cmdtest.Must(t, lease.Release(t.Context()))
	command(t, shell(s, "touch "+ran, "-n")...).Want(t, 0)
	if _, err := os.Stat(ran); err != nil {
		t.Error("the command did not run when the lock was free")
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

// TestRunSlots: as many commands as there are slots.
func TestRunSlots(t *testing.T) {
	s := server(t)
	first, second := cmdtest.NewLife(t), cmdtest.NewLife(t)
	script := func(l *cmdtest.Life) string {
		return "exec 9>" + l.Path + "; echo slot $LOCKSCOPE_SLOT. >&9; sleep 600"
	}
	r1 := cmdtest.Start(t, shell(s, script(first), "--slots", "2")...)
	first.Await("slot ")
	r2 := cmdtest.Start(t, shell(s, script(second), "--slots", "2")...)
	second.Await("slot ")
	if first.Says("slot 0") == second.Says("slot 0") {
		t.Error("both have the same slot")
	}
	o := command(t, shell(s, "exit 0", "--slots", "2", "-n")...)
	o.Want(t, 1, `all 2 slots of "nightly" are held: `, "since ")
	for _, r := range []*cmdtest.Started{r1, r2} {
		cmdtest.Must(t, r.StopWithin(time.Minute))
		r.Wait().Want(t, 143)
	}
	o = command(t, shell(s, "exec env", "--slots", "2", "-n")...)
	o.Want(t, 0, "LOCKSCOPE_SLOT=")
	// lockscope below lockscope does not take this variable for a misspelled one.
	lockscope.With(t, []string{"LOCKSCOPE_SLOT=1"}, "", "list", "--redis", s.Addr()).WantNot(t, "LOCKSCOPE_SLOT")
}

// TestRunMetrics: a file and a gateway have them, and neither changes the status.
func TestRunMetrics(t *testing.T) {
	s := server(t)
	file := filepath.Join(t.TempDir(), "run.prom")
	var mu sync.Mutex
	path := ""
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		path = r.Method + " " + r.URL.Path
	}))
	defer gateway.Close()
	command(t, shell(s, "exit 3", "--textfile", file, "--pushgateway", gateway.URL)...).Want(t, 3)
	text, err := os.ReadFile(file)
	cmdtest.Must(t, err)
	for _, line := range []string{
		`lockscope_run_exit_code{resource="nightly"} 3`, `lockscope_run_lost{resource="nightly"} 0`,
		`lockscope_run_last_end_timestamp_seconds{resource="nightly"} 1`,
		`lockscope_run_wait_seconds{resource="nightly"} `, `lockscope_run_held_seconds{resource="nightly"} `,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	mu.Lock()
	if path != "PUT /metrics/job/lockscope_run/resource/nightly" {
		t.Errorf("pushed with %s", path)
	}
	mu.Unlock()
	gateway.Close()
	o := command(t, shell(s, "exit 3", "--textfile", "/no/such/folder/x", "--pushgateway", gateway.URL)...)
	o.Want(t, 3, "--textfile", "--pushgateway")
	holder := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s})
	cmdtest.Must(t, lock.Do(t.Context(), holder, "nightly", func(context.Context, lock.Lease) error {
		command(t, shell(s, "exit 0", "-n", "--textfile", file)...).Want(t, 1)
		return nil
	}))
	after, err := os.ReadFile(file)
	cmdtest.Must(t, err)
	if string(after) != string(text) {
		t.Error("a refused run wrote metrics of a command")
	}
}

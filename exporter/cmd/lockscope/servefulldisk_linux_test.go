package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// smallDisk is a file system of its own. Only root can mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("lockscope-test", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { cmdtest.Must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fill leaves no room, until the returned file is removed.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	cmdtest.Must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !strings.Contains(err.Error(), "no space left") {
		t.Fatal(err)
	}
	_ = f.Close()
	return filler
}

// TestServeFullDisk: log and metric tell of a state that cannot be saved. The old file stays whole, and serve goes on.
// With room again, it saves what it found meanwhile. A scan reports a --textfile that it could not write.
func TestServeFullDisk(t *testing.T) {
	dir := smallDisk(t)
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	plantLeaks(t, c, 5)
	state, metrics := filepath.Join(dir, "state.json"), filepath.Join(dir, "lockscope.prom")
	scan := cmdtest.Quick("--redis", s.Addr(), "--textfile", metrics)
	command(t, scan...).Want(t, ui.ExitFindings)
	p := startServe(t, "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0", "--interval", "100ms",
		"--confirm-after", "10ms", "--state", state)
	cmdtest.Eventually(t, "the state is saved", func() bool { return len(savedFindings(t, state)) == 5 })
	filler := fill(t, dir)
	before, err := os.ReadFile(metrics)
	cmdtest.Must(t, err)

	plantLeaks(t, c, 200)
	shows := func(what, pattern string) {
		t.Helper()
		cmdtest.Eventually(t, what, func() bool {
			_, body := cmdtest.Get(t, p.url(t)+"/metrics")
			return regexp.MustCompile(pattern).MatchString(body)
		})
	}
	shows("the metric tells of a failed save", `distributed_lock_scanner_memory_failures_total [1-9]`)
	shows("serve goes on", `distributed_lock_scanner_leaked_locks\{.*\} 200`)
	if !strings.Contains(p.Log(), "memory of earlier sweeps not loaded or saved") ||
		!strings.Contains(p.Log(), "no space left on device") {
		t.Errorf("the log does not tell of it:\n%s", p.Log())
	}
	if n := len(savedFindings(t, state)); n != 5 {
		t.Errorf("the old file has %d findings, want 5", n)
	}
	command(t, scan...).Want(t, ui.ExitError, "--textfile", "no space left on device", "no_ttl")
	if after, err := os.ReadFile(metrics); err != nil || string(after) != string(before) {
		t.Errorf("the old metrics are not whole: %v\n%s", err, after)
	}
	cmdtest.Must(t, os.Remove(filler))
	cmdtest.Eventually(t, "the state is saved again", func() bool { return len(savedFindings(t, state)) == 200 })
	p.terminate(t).Want(t, ui.ExitClean)
	entries, err := os.ReadDir(dir)
	cmdtest.Must(t, err)
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

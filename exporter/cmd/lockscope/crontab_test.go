//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// underCron runs the line of crontab in README as cron does, with paths of this test, and without any environment.
func underCron(t *testing.T, dir string) (status int, output string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	cmdtest.Must(t, err)
	found := regexp.MustCompile(`(?m)^0 3 \* \* \* +(.+)$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("README has no line for crontab")
	}
	line := string(found[1])
	if strings.Contains(strings.ReplaceAll(line, `\%`, ""), "%") {
		t.Fatalf("cron ends the line at its %%: %s", line)
	}
	line = strings.ReplaceAll(line, `\%`, "%")
	for _, path := range []string{"/usr/local/bin/lockscope", "/etc/lockscope/nodes",
		"/var/lib/node_exporter/nightly.prom", "/opt/report.sh"} {
		if !strings.Contains(line, " "+path) && !strings.HasPrefix(line, path) {
			t.Fatalf("%s is not in %s", path, line)
		}
		line = strings.ReplaceAll(line, path, filepath.Join(dir, filepath.Base(path)))
	}
	written, err := exec.Command("env", "-i", "/bin/sh", "-c", line).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed {
		return exit.ExitCode(), string(written)
	}
	cmdtest.Must(t, err)
	return 0, string(written)
}

// TestCrontab: the line of README runs the report, and writes the metrics. Cron mails nothing from a machine that was
// not the first.
func TestCrontab(t *testing.T) {
	dir, s := t.TempDir(), oneServer(t)
	exe, err := os.Executable()
	cmdtest.Must(t, err)
	put := func(name, text string, mode os.FileMode) {
		cmdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	put("lockscope", "#!/bin/sh\nexport LOCKSCOPE_TEST_IS_LOCKSCOPE=1 LOCKSCOPE_NODE_TIMEOUT=2s\nexec '"+exe+"' \"$@\"\n", 0o755)
	put("nodes", s.Addr()+"\n", 0o644)
	put("report.sh", "#!/bin/sh\necho \"report $LOCKSCOPE_RESOURCE\" >> '"+dir+"/reports'\n", 0o755)
	reports := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "reports"))
		cmdtest.Must(t, err)
		return string(text)
	}
	if status, said := underCron(t, dir); status != 0 || said != "" || reports() != "report nightly\n" {
		t.Fatalf("status %d, %q, %q", status, said, reports())
	}
	if metrics, err := os.ReadFile(filepath.Join(dir, "nightly.prom")); err != nil || len(metrics) == 0 {
		t.Errorf("%q, %v", metrics, err)
	}
	other := cmdtest.LockingProcess(t, "web-2/7", []*redisproc.Server{s})
	lease, err := other.Acquire(t.Context(), "nightly", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	status, said := underCron(t, dir)
	if status != 0 || said != "" || reports() != "report nightly\n" {
		t.Errorf("status %d, %q, %q", status, said, reports())
	}
	cmdtest.Must(t, lease.Release(t.Context()))
}

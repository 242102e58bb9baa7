package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stories are what a run on each system shows beside the table.
func stories() map[string][]string {
	return map[string][]string{
		"postgres": {
			`^  go run \./exporter/cmd/lockscope top --page http\S+ --postgres 'postgres://demo@127\.0\.0\.1:\d+/postgres`,
			`^1 PostgreSQL server on 127\.0\.0\.1, port \d+$`, `KILL +the server is killed`,
			`START +the server takes connections again`,
			`CRASH +importer-1 vanishes holding order:1001; its row stays for a TTL`,
		},
		"etcd": {
			`^  go run \./exporter/cmd/lockscope top --page http\S+ --etcd http://127\.0\.0\.1:\d+,http://`,
			`^a cluster of 3 etcd members`, `PAUSE +member m\d hangs for .*; m\d leads`, `RESUME +m\d answers again`,
			`CRASH +importer-1 vanishes holding order:1001; its key stays for the \ds of its lease`,
		},
		"zookeeper": {
			`^  go run \./exporter/cmd/lockscope top --page http\S+ --zookeeper 127\.0\.0\.1:\d+,127`,
			`^an ensemble of 3 ZooKeeper servers`, `KILL +server 127\.0\.0\.1:\d+ is killed`,
			`START +127\.0\.0\.1:\d+ is started again`,
			`CRASH +importer-1 vanishes holding order:1001; its node stays until its session`,
		},
		"redsync": {
			`^  go run \./exporter/cmd/lockscope top --page http\S+ --redis 127\.0\.0\.1:\d+,127`,
			`^5 redis-server processes on 127\.0\.0\.1`, `without fencing tokens`,
			`PAUSE +server 127\.0\.0\.1:\d+ hangs`, `RESUME +127\.0\.0\.1:\d+ answers again`,
			`CRASH +importer-1 vanishes holding order:1001; its keys stay`,
		},
	}
}

// TestDemoOnOtherSystems gives a machine on which somebody was granted nothing more time.
func TestDemoOnOtherSystems(t *testing.T) {
	for backend, story := range stories() {
		t.Run(backend, func(t *testing.T) {
			fences, verdict := "yes", "every fencing token higher than the last"
			if backend == "redsync" {
				fences, verdict = "none", "and no fencing token to check"
			}
			var rows []string
			for _, resource := range []string{"order:1001", "stock:42", "stock:43", "mail:welcome", "report:daily",
				"all"} {
				rows = append(rows, fmt.Sprintf(`^%s +[1-9]\d* .* %s$`, resource, fences))
			}
			out := temporary(t, "", "-backend", backend, "-for", "8s", "-ttl", "1s")
			if !allLines(out, append(rows, story...)) {
				out = temporary(t, "", "-backend", backend, "-for", "40s", "-ttl", "4s", "-node-timeout", "1s")
			}
			wantLines(t, out, append(append(rows, story...), `never two holders, `+verdict+`$`)...)
			for _, word := range []string{"scanner", "leak", "quarantine", "HELD"} {
				if strings.Contains(out, word) {
					t.Errorf("it speaks of what is Redis' only: %s", word)
				}
			}
		})
	}
}

func allLines(out string, patterns []string) bool {
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(out) {
			return false
		}
	}
	return true
}

// temporary runs the demo, as demo does, with a folder of its own for temporary files, and checks that
// neither a file nor a process that works there is left.
func temporary(t *testing.T, interruptAt string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	// PostgreSQL may have to run as another user.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"TMPDIR=" + dir}
	if slices.Contains(args, "zookeeper") {
		races := t.TempDir()
		env = append(env, "GORACE=exitcode=0 log_path="+filepath.Join(races, "race"))
		defer noRaceOfOurs(t, races)
	}
	out := demo(t, interruptAt, env, args...)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(processes) == 0 {
		t.Fatalf("no process can be seen: %v", err)
	}
	for _, cwd := range processes {
		if target, err := os.Readlink(cwd); err == nil && strings.HasPrefix(target, dir) {
			t.Errorf("%s still works in %s", filepath.Dir(cwd), target)
		}
	}
	return out
}

// noRaceOfOurs looks through what the race detector wrote. go-zookeeper 1.0.4 reads, when it reconnects, the last
// transaction it has seen beside the goroutine that writes it; nobody but it can mend that.
func noRaceOfOurs(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "race*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, report := range strings.Split(string(text), "WARNING: DATA RACE")[1:] {
			if !strings.Contains(report, "zk.(*Conn).sendSetWatches()") ||
				!strings.Contains(report, "zk.(*Conn).recvLoop()") {
				t.Errorf("a data race:%s", report)
			}
		}
	}
}

// TestDemoInterruptedOnOtherSystems interrupts each while a server is away.
func TestDemoInterruptedOnOtherSystems(t *testing.T) {
	for backend, word := range map[string]string{"postgres": "KILL", "etcd": "PAUSE", "zookeeper": "KILL",
		"redsync": "PAUSE"} {
		t.Run(backend, func(t *testing.T) {
			out := temporary(t, word, "-backend", backend, "-for", "8s", "-ttl", "1s")
			wantLines(t, out, `interrupted`, `never two holders`)
		})
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	const nowhere = "/does/not/exist"
	for _, test := range []struct{ backend, variable, remedy string }{
		{"postgres", "LOCKSCOPE_POSTGRES_BIN", "PostgreSQL is not installed (Debian: apt-get install postgresql)"},
		{"etcd", "LOCKSCOPE_ETCD", "etcd is not installed (Debian: apt-get install etcd-server)"},
		{"zookeeper", "PATH", "ZooKeeper is not installed (Debian: apt-get install zookeeper default-jre-headless)"},
		{"redsync", "LOCKSCOPE_REDIS_SERVER", `no redis-server: install with "apt-get install redis-server"`},
	} {
		t.Run(test.backend, func(t *testing.T) {
			t.Setenv(test.variable, nowhere)
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), []string{"-backend", test.backend}, &stdout, &stderr); status != 1 {
				t.Errorf("exit status %d, want 1", status)
			}
			if !strings.Contains(stderr.String(), test.remedy) || stdout.Len() != 0 {
				t.Errorf("message %q, %q", &stderr, &stdout)
			}
		})
	}
}

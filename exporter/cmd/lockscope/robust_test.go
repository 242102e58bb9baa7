package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// slow are arguments of a sweep of many pages that takes minutes.
func slow() []string { return []string{"--page-size", "10", "--pause", "1s"} }

// plantLeaks leaves n keys without a TTL.
func plantLeaks(t *testing.T, c *redis.Client, n int) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), fmt.Sprintf("%032d", i), 0)
	}
	_, err := pipe.Exec(t.Context())
	cmdtest.Must(t, err)
}

// awaitPages waits until a sweep has read some pages and not all.
func awaitPages(t *testing.T, c *redis.Client) {
	t.Helper()
	calls := regexp.MustCompile(`cmdstat_scan:calls=([2-9]|\d\d)`)
	cmdtest.Eventually(t, "pages are read", func() bool {
		return calls.MatchString(c.Info(t.Context(), "commandstats").Val())
	})
}

// binaryInterruptedMidSweep: after Ctrl-C the report has the findings so far, as not confirmed, and says how much was
// read.
func binaryInterruptedMidSweep(t *testing.T, bin string) {
	servers := locktest.Servers(t, 2)
	c := cmdtest.Admin(t, servers[0])
	plantLeaks(t, c, 2000)
	cmdtest.Set(t, cmdtest.Admin(t, servers[1]), "lock:other", "v", time.Hour)
	p := start(t, bin, append([]string{"scan", "--redis", cmdtest.Addrs(servers...)}, slow()...)...)
	awaitPages(t, c)
	cmdtest.Must(t, p.Signal(os.Interrupt))
	o := p.wait()
	o.Want(t, ui.ExitError, "no_ttl", "lock:", "not confirmed: ", "truncated: the numbers are lower bounds", "INCOMPLETE",
		"bound_reached: "+servers[0].Addr(), "interrupted: the report has what was known by then: about ")
	if !regexp.MustCompile(`about [1-9]\d* keys examined, 0 of 2 nodes read to the end\n`).MatchString(o.Err) {
		t.Errorf("it does not say how much it has read:\n%s", o.Err)
	}
}

// binaryServeTerminatedMidSweep: serve ends long before its sweep would, and the file of its memory stays whole.
func binaryServeTerminatedMidSweep(t *testing.T, bin string) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	plantLeaks(t, c, 30)
	state := filepath.Join(t.TempDir(), "state.json")
	args := []string{"serve", "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0", "--confirm-after", "10ms",
		"--state", state}
	p := start(t, bin, append(args, "--interval", "200ms")...)
	cmdtest.Eventually(t, "the state is saved", func() bool { return len(savedFindings(t, state)) == 30 })
	p.terminate().Want(t, ui.ExitClean)

	plantLeaks(t, c, 2000)
	cmdtest.Must(t, c.ConfigResetStat(t.Context()).Err())
	p = start(t, bin, append(append(args, "--interval", "1s"), slow()...)...)
	awaitPages(t, c)
	p.terminate().Want(t, ui.ExitClean)
	if n := len(savedFindings(t, state)); n < 30 {
		t.Errorf("%d findings are left in the state, want 30 or more", n)
	}
	left, err := filepath.Glob(state + ".*")
	cmdtest.Must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// savedFindings reads the file of --state; none before there is one. The test ends if it is not one whole document.
func savedFindings(t *testing.T, path string) []any {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	cmdtest.Must(t, err)
	var saved struct {
		Findings []any `json:"findings"`
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatalf("%s is not whole: %v", path, err)
	}
	return saved.Findings
}

// binaryTwoServes: each of two processes with one file says so, both go on, and the file is whole all the time.
func binaryTwoServes(t *testing.T, bin string) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	state := filepath.Join(t.TempDir(), "state.json")
	var both [2]*running
	for i := range both {
		both[i] = start(t, bin, "serve", "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0",
			"--interval", "100ms", "--confirm-after", "10ms", "--state", state)
	}
	leaks := 0
	for i, p := range both {
		cmdtest.Eventually(t, fmt.Sprintf("process %d says so", i+1), func() bool {
			cmdtest.Set(t, c, fmt.Sprintf("lock:%d", leaks), "v", 0) // each sweep has something to save
			cmdtest.Must(t, c.Del(t.Context(), fmt.Sprintf("lock:%d", leaks-100)).Err())
			leaks++
			savedFindings(t, state)
			_, body := cmdtest.Get(t, p.url()+"/metrics")
			return strings.Contains(p.Log(), "another process saves to the same store") &&
				regexp.MustCompile(`distributed_lock_scanner_memory_failures_total [1-9]`).MatchString(body)
		})
	}
	both[0].terminate().Want(t, ui.ExitClean)
	cmdtest.Set(t, c, "lock:last", "v", 0)
	cmdtest.Eventually(t, "the other one saves", func() bool {
		text, err := os.ReadFile(state)
		cmdtest.Must(t, err)
		return strings.Contains(string(text), `"Key":"bG9jazpsYXN0"`) // lock:last
	})
	both[1].terminate().Want(t, ui.ExitClean)
}

// binaryServesWithoutScan: serve says what it may not read, goes on, and reads when the right is granted.
func binaryServesWithoutScan(t *testing.T, bin string) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	plantLeaks(t, c, 1)
	grant := func(rules ...any) {
		t.Helper()
		cmdtest.Must(t, c.Do(t.Context(), append([]any{"ACL", "SETUSER", "few"}, rules...)...).Err())
	}
	grant("reset", "on", ">pw", "%R~*", "+@all", "-scan")
	p := start(t, bin, "serve", "--redis", "redis://few:pw@"+s.Addr(), "--web.listen-address", "127.0.0.1:0",
		"--interval", "100ms", "--confirm-after", "10ms")
	shows := func(text string) {
		t.Helper()
		cmdtest.Eventually(t, text, func() bool {
			_, body := cmdtest.Get(t, p.url()+"/metrics")
			return strings.Contains(body, text)
		})
	}
	shows(`distributed_lock_scanner_incomplete{reason="node_failed"} 1`)
	shows(fmt.Sprintf(`distributed_lock_scanner_leaked_locks{lock_node=%q} 0`, s.Addr()))
	if !strings.Contains(p.Log(), "'scan' command") {
		t.Errorf("the command is not named:\n%s", p.Log())
	}
	grant("+scan")
	shows(fmt.Sprintf(`distributed_lock_scanner_leaked_locks{lock_node=%q} 1`, s.Addr()))
	shows(`distributed_lock_scanner_incomplete{reason="node_failed"} 0`)
	grant("-pttl")
	shows(`distributed_lock_scanner_incomplete{reason="node_failed"} 1`)
	cmdtest.Must(t, p.Signal(syscall.SIGTERM))
	p.wait().Want(t, ui.ExitClean, "'pttl' command")
}

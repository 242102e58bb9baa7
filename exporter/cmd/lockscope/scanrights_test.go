package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// plantTypes leaves a lock of each form that scans read with commands of its own. lock:fine expires.
func plantTypes(t *testing.T, c *redis.Client) {
	t.Helper()
	cmdtest.Set(t, c, "lock:leak", cmdtest.Ours, 0)
	cmdtest.Set(t, c, "lock:large", strings.Repeat("x", 300), 0)
	cmdtest.Set(t, c, "lock:empty", "", 0)
	cmdtest.Set(t, c, "lock:fine", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute)
	cmdtest.Must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 1).Err())
}

// TestScanWithoutOneRight sweeps as users that lack one right each, where scripts may run and where not. A sweep that
// cannot read the locks fails and names the rule to grant. The others find all leaks. No sweep reports the lock that
// expires, or that there is nothing.
func TestScanWithoutOneRight(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	plantTypes(t, c)
	needed := []string{"+scan", "+pttl", "+type", "+getrange", "+strlen", "+exists", "+hlen", "+hgetall"}
	for _, scripts := range []bool{true, false} {
		all := slices.DeleteFunc(scanner.ListACL(), func(rule string) bool {
			return !scripts && strings.Contains(rule, "eval") || strings.Contains(rule, "cluster") || rule == "+command"
		})
		for _, less := range all {
			t.Run(fmt.Sprintf("scripts %v, less %s", scripts, less), func(t *testing.T) {
				o := scanWithout(t, c, s.Addr(), all, less)
				o.WantNot(t, "lock:fine", "  nothing", "panic")
				if slices.Contains(needed, less) {
					o.Want(t, ui.ExitError, "'"+less[1:]+"' command", "grant "+less+" to the user", "not read")
					o.WantNot(t, "no_ttl")
					return
				}
				o.Want(t, ui.ExitFindings, "lock:leak", "lock:large", "lock:empty", "lock:redisson", "4 no_ttl")
				if less == "+info" {
					o.Want(t, ui.ExitFindings, "INCOMPLETE", "role_unknown", "grant +info")
				}
			})
		}
	}
}

// scanWithout sweeps as a user with all of these rules except one.
func scanWithout(t *testing.T, c *redis.Client, addr string, all []string, less string) cmdtest.Outcome {
	t.Helper()
	args := []any{"ACL", "SETUSER", "few", "reset", "on", ">pw", "%R~lock:*"}
	for _, rule := range all {
		if rule != less {
			args = append(args, rule)
		}
	}
	cmdtest.Must(t, c.Do(t.Context(), args...).Err())
	cmdtest.Must(t, c.ScriptFlush(t.Context()).Err())
	return commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=pw"}, "",
		cmdtest.Quick("--redis", addr, "--redis-username", "few")...)
}

package scan

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// repairNow repairs every value that identifies its owner, with all defaults but a short time between the looks.
func repairNow(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return command(t, cmdtest.Quick(append(args, "--repair", "delete", "--yes", "--audit-log",
		filepath.Join(t.TempDir(), "audit.log"), "--repair-classes",
		"no_ttl,held_too_long,orphan,long_ttl")...)...)
}

// wantAll requires that every key still exists.
func wantAll(t *testing.T, c redis.Cmdable, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if c.Exists(t.Context(), key).Val() != 1 {
			t.Errorf("%s: a live lock was deleted", key)
		}
	}
}

// TestRepairLeavesConstantValues: a value that every owner writes does not identify the present owner.
func TestRepairLeavesConstantValues(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	var keys []string
	for i, value := range []string{"1", "locked", "web-7.example.com", "", "1763000000.123"} {
		keys = append(keys, fmt.Sprint("lock:", i))
		cmdtest.Set(t, c, keys[i], value, 0)
	}
	for _, age := range []string{"10m", "0s"} { // at whatever age
		o := repairNow(t, "--redis", s.Addr(), "--min-age", age)
		o.Want(t, ui.ExitError, "outcome=refused", "may be the same for every owner", "left 5 keys alone")
		o.WantNot(t, "outcome=done")
	}
	wantAll(t, c, keys...)
}

// TestRepairLeavesLongValues: only 256 bytes are compared, and two owners may share those.
func TestRepairLeavesLongValues(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	common := strings.Repeat("8Q5xLzCgV2rEJwJ7yYtSIA==", 14)[:320]
	var keys []string
	for i := range 34 {
		keys = append(keys, fmt.Sprint("lock:", i))
		cmdtest.Set(t, c, keys[i], common+fmt.Sprintf("%04d", i), 0)
	}
	o := repairNow(t, "--redis", s.Addr(), "--min-age", "0s")
	o.Want(t, ui.ExitError, "longer than the 256 bytes", "left 34 keys alone")
	o.WantNot(t, "outcome=done")
	wantAll(t, c, keys...)
}

// TestRepairLeavesYoungLocks: the holder of a lock without a TTL may be at work. redis-py's Lock(timeout=None) never has
// one, and a scan cannot know whether its process writes the same value again.
func TestRepairLeavesYoungLocks(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:redis-py", "3f2c9a6ec7a911f0b5d20242ac120002", 0)
	cmdtest.Set(t, c, "lock:young", "8Q5xLzCgV2rEJwJ7yYtSIA==", 0)
	o := repairNow(t, "--redis", s.Addr())
	o.Want(t, ui.ExitError, "outcome=refused", "wait another 10m0s", "may reuse this value", "left 2 keys alone",
		"lockscope repair plan")
	o.WantNot(t, "outcome=done")
	wantAll(t, c, "lock:redis-py", "lock:young")
}

// TestRepairLeavesLocksOfUnrelatedServers: a lock on one of two servers proves nothing unless both belong to one
// Redlock.
func TestRepairLeavesLocksOfUnrelatedServers(t *testing.T) {
	servers := locktest.Servers(t, 2)
	now := time.Now().UnixMilli()
	keys := make([][]string, 2)
	for i, s := range servers {
		for j := range 9 {
			key := fmt.Sprintf("lock:%d:%d", i, j)
			keys[i] = append(keys[i], key)
			cmdtest.Set(t, cmdtest.Admin(t, s), key, fmt.Sprintf("%032x:%d|worker-7/42|%d||", 1000*i+j, now*1000, now),
				time.Minute)
		}
	}
	o := repairNow(t, "--redis", cmdtest.Addrs(servers...))
	o.Want(t, ui.ExitClean, "orphans_unproved: orphans were not looked for", "--redlock")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--checks", "orphan,no_ttl")...).Want(t,
		ui.ExitIncomplete, "orphans_unproved")
	command(t, cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--redlock")...).Want(t, ui.ExitFindings,
		"its token is on 1 of 2 nodes")
	for i, s := range servers {
		wantAll(t, cmdtest.Admin(t, s), keys[i]...)
	}
}

// TestScanComparesLocksOfOtherLibraries: what was not compared is said in every output.
func TestScanComparesLocksOfOtherLibraries(t *testing.T) {
	servers := locktest.Servers(t, 3)
	c := cmdtest.Admin(t, servers[1])
	cmdtest.Set(t, c, "lock:constant", "1", time.Minute)
	args := cmdtest.Quick("--redis", cmdtest.Addrs(servers...), "--redlock")
	said := servers[1].Addr() + ": 1 lock of other libraries could not be compared"
	command(t, args...).Want(t, ui.ExitClean, "orphans_uncompared: "+said)
	asked := append(args, "--checks", "orphan")
	command(t, asked...).Want(t, ui.ExitIncomplete, "INCOMPLETE", "orphans_uncompared: "+said)
	command(t, append(asked, "-o", "json")...).Want(t, ui.ExitIncomplete, `"complete": false`, `"uncompared": 1`,
		`"reason": "orphans_uncompared"`)
	cmdtest.Set(t, c, "lock:left", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute)
	command(t, asked...).Want(t, ui.ExitFindings, "lock:left", "its value is on 1 of 3 nodes", "orphans_uncompared")
}

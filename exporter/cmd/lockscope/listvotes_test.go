package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/scanner"
)

// TestForgetfulNodes are those that the guard keeps from voting for what they may have forgotten: neither one whose
// quarantine is over, nor one that votes for others. The rights that list needs suffice to know them.
func TestForgetfulNodes(t *testing.T) {
	servers := locktest.Servers(t, 5)
	cmdtest.VouchFor(t, servers...)
	names := make([]string, 0, len(servers))
	marker := func(i int) string {
		text, err := cmdtest.Admin(t, servers[i]).Get(t.Context(), guard.MarkerKey).Result()
		cmdtest.Must(t, err)
		return text
	}
	for i, s := range servers {
		c := cmdtest.Admin(t, s)
		cmdtest.Set(t, c, "lock:order", cmdtest.Ours, time.Hour)
		args := []any{"ACL", "SETUSER", "few", "reset", "on", ">pw", "%R~lock:*", "%R~lockscope:*", "+zrange", "+zcard",
			"+mget"}
		for _, rule := range scanner.ListACL() {
			args = append(args, rule)
		}
		cmdtest.Must(t, c.Do(t.Context(), args...).Err())
		began := time.Now().Add(-time.Hour).UnixMilli()
		switch i {
		case 0:
			cmdtest.Must(t, c.Del(t.Context(), guard.MarkerKey).Err())
		case 1:
			over := fmt.Sprintf("%s|id|61000|%d|%d", strings.Replace(marker(i), "voting", "quarantine", 1), began, began)
			cmdtest.Set(t, c, guard.MarkerKey, over, 0)
		case 2:
			cmdtest.Set(t, c, guard.MarkerKey, strings.Replace(marker(i), "voting|5", "voting|4", 1), 0)
		}
		names = append(names, s.Addr())
	}
	o := commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=pw"}, "", "list", "--redis", strings.Join(names, ","),
		"--redis-username", "few")
	o.Want(t, ui.ExitClean, "order", "\n"+names[0]+" may have forgotten locks")
}

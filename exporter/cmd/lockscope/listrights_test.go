package main

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// TestListWithoutOneRight lists as users that lack one right each. Without a right to read locks the listing fails and
// names the rule to grant. Without one to read queues it shows the locks, and says that waiters are unknown.
func TestListWithoutOneRight(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:order", cmdtest.Ours, time.Hour)
	cmdtest.Must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 1).Err())
	cmdtest.Must(t, c.ZAdd(t.Context(), "lockscope:queue:{lock:order}",
		redis.Z{Score: 1, Member: "0011223344556677"}).Err())
	for less, status := range map[string]int{
		"+scan": ui.ExitError, "+pttl": ui.ExitError, "+type": ui.ExitError, "+getrange": ui.ExitError,
		"+hlen": ui.ExitError, "+hgetall": ui.ExitError,
		"+zrange": ui.ExitClean, "+zcard": ui.ExitClean, "+mget": ui.ExitClean, "+info": ui.ExitClean,
	} {
		args := []any{"ACL", "SETUSER", "few", "reset", "on", ">pw", "%R~lock:*", "%R~lockscope:*"}
		for _, rule := range append(scanner.ListACL(), "+zrange", "+zcard", "+mget") {
			if rule != less {
				args = append(args, rule)
			}
		}
		cmdtest.Must(t, c.Do(t.Context(), args...).Err())
		o := commandWith(t, []string{"LOCKSCOPE_REDIS_PASSWORD=pw"}, "", "list", "--redis", s.Addr(),
			"--redis-username", "few")
		switch {
		case status == ui.ExitError:
			o.Want(t, status, "not read", "'"+less[1:]+"' command", "grant "+less+" to the user")
			o.WantNot(t, "no locks", "worker-7/42")
		case less == "+info":
			o.Want(t, status, "worker-7/42")
		default:
			o.Want(t, status, "worker-7/42", "some waiters are unknown", "'"+less[1:]+"' command", less)
		}
	}
}

package top

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestTopAgreesWithList about holders of other libraries, the names of locks, and which locks a group has.
func TestTopAgreesWithList(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for i, s := range servers {
		c := cmdtest.Admin(t, s)
		cmdtest.Must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:42", 1).Err())
		cmdtest.Must(t, c.PExpire(t.Context(), "lock:redisson", time.Minute).Err())
		cmdtest.Set(t, c, "lock:eu:order", cmdtest.Ours, time.Hour)
		if i == 0 {
			for _, key := range []string{"lock:redisson", "lock:eu:order", "lock:us:order"} {
				plantQueue(t, c, key)
			}
			cmdtest.Set(t, c, "lockscope:queue:{lock:planted}", "by somebody", time.Hour)
		}
	}
	nodes := cmdtest.Addrs(servers...)
	o := command(t, "top", "--once", "--redis", nodes)
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitClean, "8743c9c0…:42", "eu:order", "us:order")
	o.WantNot(t, "some waiters are unknown")

	o = command(t, "top", "--once", "--redis", nodes, "--prefix", "lock:", "--prefix", "lock:eu:")
	o.Want(t, ui.ExitClean, "eu:order", "us:order")

	o = command(t, "top", "--once", "--config", cmdtest.ConfigFile(t,
		`groups: [{name: eu, redlock: true, redis: [`+nodes+`], patterns: [{pattern: 'lock:*u:order'}]}]`))
	o.Want(t, ui.ExitClean, "1 call waits for 1 lock")
	o.WantNot(t, "us:order", "redisson")

	o = command(t, "top", "--once", "--redis", servers[0].Addr(), "--redis", servers[0].Addr())
	o.Want(t, ui.ExitError, "same server as node 1")
}

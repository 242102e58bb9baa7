package run

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const electHelp = `Keep a command running on one machine of the fleet.

Start it on all machines. One leads and runs the command; the others wait. If the command ends, the
leader starts it again after a pause. After SIGTERM the leader ends the command and resigns, and
the next machine starts it.`

const electExample = `  lockscope elect scheduler --redis r1:6379,r2:6379,r3:6379 -- ./scheduler
  lockscope elect billing --kill-after 1m --postgres postgres://ops@db/ops -- ./billing --all`

// Elect is lockscope elect.
func Elect(a *ui.App) *cobra.Command {
	c := &candidate{task: task{app: a}}
	return c.on(ui.Page{
		Everyday: []string{
			"redis", "redis-file", "postgres", "etcd", "zookeeper", "ttl", "backoff", "max-backoff", "kill-after",
		},
		Exit:   "0 after SIGTERM or SIGINT, 2 bad input, 125 the election failed, 126/127 cannot run",
		Topics: []string{"exit-codes", "commands", "connection"},
	}.On(&cobra.Command{
		Use: "elect NAME [flags] -- COMMAND [ARG]...", Short: "Keep a command running on one machine of the fleet",
		Long: electHelp, Example: electExample,
	}), c)
}

func (c *candidate) register(set *pflag.FlagSet) {
	set.DurationVar(&c.backoff, "backoff", time.Second, "first pause before the command is started again. "+
		"It doubles with every run that is shorter than --max-backoff")
	set.DurationVar(&c.maxBackoff, "max-backoff", time.Minute, "longest pause")
	ui.Group(set, "Command", "backoff", "max-backoff")
}

func (c *candidate) validate() error {
	switch {
	case c.backoff <= 0:
		return fmt.Errorf("--backoff %v is not positive", c.backoff)
	case c.maxBackoff < c.backoff:
		return fmt.Errorf("--max-backoff %v is shorter than --backoff %v", c.maxBackoff, c.backoff)
	}
	return nil
}

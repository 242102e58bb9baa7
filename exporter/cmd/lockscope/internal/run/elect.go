package run

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/locker"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const electHelp = `Keep a command running on one machine of the fleet.

Start it on all machines. One leads and runs the command; the others wait. If the command ends, the
leader starts it again after a pause. After SIGTERM the leader ends the command and resigns, and
the next machine starts it.`

const electExample = `  lockscope elect scheduler --redis r1:6379,r2:6379,r3:6379 -- ./scheduler
  lockscope elect billing --kill-after 1m --postgres postgres://ops@db/ops -- ./billing --all`

type electFlags struct {
	locker     locker.Flags
	backoff    time.Duration
	maxBackoff time.Duration
	killAfter  time.Duration
	name       string
	command    []string
}

// Command is lockscope elect.
func Elect(a *ui.App) *cobra.Command {
	f := &electFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-file", "postgres", "etcd", "zookeeper", "ttl", "backoff", "max-backoff", "kill-after",
		},
		Exit:   "0 after SIGTERM or SIGINT, 2 bad input, 125 the election failed, 126/127 cannot run",
		Topics: []string{"exit-codes", "commands", "connection"},
	}.On(&cobra.Command{
		Use: "elect NAME [flags] -- COMMAND [ARG]...", Short: "Keep a command running on one machine of the fleet",
		Long: electHelp, Example: electExample, DisableFlagsInUseLine: true, Args: child.Arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.name, f.command = args[0], args[1:]
			return f.run(cmd.Context(), a)
		},
	})
	set := cmd.Flags()
	f.locker.Register(set)
	set.DurationVar(&f.backoff, "backoff", time.Second, "first pause before the command is started again. "+
		"It doubles with every run that is shorter than --max-backoff")
	set.DurationVar(&f.maxBackoff, "max-backoff", time.Minute, "longest pause")
	child.RegisterKillAfter(set, &f.killAfter)
	ui.Group(set, "Command", "backoff", "max-backoff", "kill-after")
	return cmd
}

func (f *electFlags) validate() error {
	switch {
	case f.backoff <= 0:
		return fmt.Errorf("--backoff %v is not positive", f.backoff)
	case f.maxBackoff < f.backoff:
		return fmt.Errorf("--max-backoff %v is shorter than --backoff %v", f.maxBackoff, f.backoff)
	case f.killAfter <= 0:
		return fmt.Errorf("--kill-after %v is not positive", f.killAfter)
	}
	return f.locker.Validate()
}

func (f *electFlags) run(ctx context.Context, a *ui.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	signals := child.Listen(ctx)
	defer signals.Stop()
	c := child.Command{Args: f.command, In: a.In, Out: a.Out, Err: a.ErrOut}
	if err := c.Check(); err != nil {
		return err
	}
	e, closeAll, err := f.locker.Open(ctx, a)
	if err != nil {
		return err
	}
	defer closeAll()
	candidate := &candidate{electFlags: f, app: a, signals: signals, child: c}
	return candidate.run(ctx, e)
}

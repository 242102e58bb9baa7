package run

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// kind is how a command comes to its lock: it waits for one, or it is elected.
type kind interface {
	register(set *pflag.FlagSet)
	validate() error
	perform(ctx context.Context, l lock.Locker) error
}

// task is a command and the lock that it runs under.
type task struct {
	locker    servers.LockFlags
	killAfter time.Duration
	name      string

	app     *ui.App
	signals *child.Signals
	child   child.Command
}

// on completes the command of a kind.
func (t *task) on(cmd *cobra.Command, k kind) *cobra.Command {
	cmd.DisableFlagsInUseLine, cmd.Args = true, child.Arguments
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t.name, t.child.Args = args[0], args[1:]
		return t.run(cmd.Context(), k)
	}
	t.locker.Register(cmd.Flags())
	k.register(cmd.Flags())
	child.RegisterKillAfter(cmd.Flags(), &t.killAfter)
	ui.Group(cmd.Flags(), "Command", "kill-after")
	return cmd
}

func (t *task) run(ctx context.Context, k kind) error {
	if err := k.validate(); err != nil {
		return err
	}
	if t.killAfter <= 0 {
		return fmt.Errorf("--kill-after %v is not positive", t.killAfter)
	}
	if err := t.locker.Validate(); err != nil {
		return err
	}
	t.signals = child.Listen(ctx)
	defer t.signals.Stop()
	t.child.In, t.child.Out, t.child.Err = t.app.In, t.app.Out, child.Shared(t.app.ErrOut)
	if err := t.child.Check(); err != nil {
		return err
	}
	e, closeAll, err := t.locker.Open(ctx, t.app)
	if err != nil {
		return err
	}
	defer closeAll()
	return k.perform(ctx, e)
}

func (t *task) say(line string) { fmt.Fprintln(t.child.Err, "lockscope: "+line) }

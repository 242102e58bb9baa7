package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/locker"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/semaphore"
)

const runHelp = `Run a command while this machine holds a lock: flock(1) for a fleet.

The command runs at most once at a time in the fleet. It has ended when the lock is released, and
it is killed before a lock ends that cannot be renewed.`

const runExample = `  lockscope run nightly --redis r1:6379,r2:6379,r3:6379 -- ./report.sh --all
  lockscope run deploy --wait 5m --postgres postgres://ci@db/ci -- make deploy
  lockscope run exports --slots 5 -n -E 0 --etcd e1:2379,e2:2379 -- ./export.sh    # five at a time`

type runFlags struct {
	locker      locker.Flags
	wait        time.Duration
	noWait      bool
	quiet       bool
	slots       int
	shared      bool
	exclusive   bool
	conflict    int
	maxHold     time.Duration
	killAfter   time.Duration
	publish     publishFlags
	name        string
	command     []string
	waitIsGiven bool
	publisher   *publisher
}

// Command is lockscope run.
func Command(a *ui.App) *cobra.Command {
	f := &runFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "postgres", "etcd", "zookeeper", "ttl", "wait", "no-wait", "conflict-exit-code", "slots",
			"shared", "exclusive", "max-hold", "textfile",
		},
		Exit:   "the command's; 1 the lock is held (-E), 2 bad input, 125 no lock, 126/127 cannot run",
		Topics: []string{"exit-codes", "commands", "connection"},
	}.On(&cobra.Command{
		Use: "run NAME [flags] -- COMMAND [ARG]...", Short: "Run a command while this machine holds a lock",
		Long: runHelp, Example: runExample, DisableFlagsInUseLine: true, Args: child.Arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.name, f.command, f.waitIsGiven = args[0], args[1:], cmd.Flags().Changed("wait")
			return f.run(cmd.Context(), a)
		},
	})
	cmd.SetFlagErrorFunc(badFlag)
	set := cmd.Flags()
	f.locker.Register(set)
	set.DurationVarP(&f.wait, "wait", "w", 0, "give up after this time (default no limit)")
	set.BoolVarP(&f.noWait, "no-wait", "n", false, "give up at once if the lock is held")
	set.IntVarP(&f.conflict, "conflict-exit-code", "E", 1, "exit `status` if the lock is held")
	set.BoolVarP(&f.quiet, "quiet", "q", false, "say nothing if another machine holds the lock")
	set.IntVar(&f.slots, "slots", 0,
		"let this many commands run at the same time. All of the fleet must give the same number")
	set.BoolVarP(&f.shared, "shared", "s", false, "run only beside other commands with --shared")
	set.BoolVarP(&f.exclusive, "exclusive", "x", false,
		"run alone, and before later commands with --shared")
	set.DurationVar(&f.maxHold, "max-hold", 0, "end the command after this time, with SIGTERM (default no limit)")
	child.RegisterKillAfter(set, &f.killAfter)
	f.publish.register(set)
	ui.Group(set, "Waiting", "wait", "no-wait", "conflict-exit-code", "quiet", "slots", "shared", "exclusive")
	ui.Group(set, "Command", "max-hold", "kill-after")
	return cmd
}

// badFlag knows the -c of flock(1).
func badFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedName() == "c" {
		return errors.New(`run has no -c: put a shell's command after --, as in: NAME -- sh -c "COMMAND"`)
	}
	return cmd.Parent().FlagErrorFunc()(cmd, err)
}

func (f *runFlags) validate() (err error) {
	switch {
	case f.wait < 0:
		return fmt.Errorf("--wait %v is negative", f.wait)
	case f.waitIsGiven && f.noWait:
		return errors.New("--wait and --no-wait exclude each other: use one")
	case f.conflict < 0 || f.conflict > 255:
		return fmt.Errorf("--conflict-exit-code %d is not an exit status: use 0 to 255", f.conflict)
	case f.slots < 0 || f.slots > semaphore.MaxSlots:
		return fmt.Errorf("--slots %d: use 1 to %d", f.slots, semaphore.MaxSlots)
	case f.shared && f.exclusive, f.slots > 0 && (f.shared || f.exclusive):
		return errors.New("--shared, --exclusive and --slots exclude each other: use one")
	case f.maxHold < 0:
		return fmt.Errorf("--max-hold %v is negative", f.maxHold)
	case f.killAfter <= 0:
		return fmt.Errorf("--kill-after %v is not positive", f.killAfter)
	}
	if f.publisher, err = f.publish.parse(f.name); err != nil {
		return err
	}
	return f.locker.Validate()
}

func (f *runFlags) run(ctx context.Context, a *ui.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	signals := child.Listen(ctx)
	defer signals.Stop()
	errOut := child.Shared(a.ErrOut)
	j := &job{
		runFlags: f, signals: signals, say: func(line string) { fmt.Fprintln(errOut, "lockscope: "+line) },
		child: child.Command{Args: f.command, In: a.In, Out: a.Out, Err: errOut},
	}
	if err := j.child.Check(); err != nil {
		return err
	}
	e, closeAll, err := f.locker.Open(ctx, a)
	if err != nil {
		return err
	}
	defer closeAll()
	return j.run(a, e)
}

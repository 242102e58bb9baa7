// Package run is the commands run and elect, which run a command under a lock.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

const runHelp = `Run a command while this machine holds a lock: flock(1) for a fleet.

The command runs at most once at a time in the fleet. lockscope releases the lock after the command
has ended. If the lock cannot be renewed, lockscope kills the command before the lock ends.`

const runExample = `  lockscope run nightly --redis r1:6379,r2:6379,r3:6379 -- ./report.sh --all
  lockscope run deploy --wait 5m --postgres postgres://ci@db/ci -- make deploy
  lockscope run exports --slots 5 -n -E 0 --etcd e1:2379,e2:2379 -- ./export.sh    # five at a time`

// job is one run.
type job struct {
	task
	wait      servers.Wait
	quiet     bool
	slots     int
	shared    bool
	exclusive bool
	conflict  int
	minHold   time.Duration
	maxHold   time.Duration
	onOutage  string
	publish   ui.Publish
	trouble   servers.Trouble
	unlocked  bool // the command runs without a lock
}

// Command is lockscope run.
func Command(a *ui.App) *cobra.Command {
	j := &job{task: task{app: a}}
	cmd := j.on(ui.Page{
		Everyday: []string{
			"redis", "postgres", "etcd", "zookeeper", "ttl", "wait", "no-wait", "conflict-exit-code", "slots",
			"shared", "exclusive", "at-least", "textfile",
		},
		Exit:   "the command's; 1 the lock is held (-E), 2 bad input, 125 no lock, 126/127 cannot run",
		Topics: []string{"exit-codes", "commands", "connection"},
	}.On(&cobra.Command{
		Use: "run NAME [flags] -- COMMAND [ARG]...", Short: "Run a command while this machine holds a lock",
		Long: runHelp, Example: runExample,
	}), j)
	cmd.SetFlagErrorFunc(badFlag)
	return cmd
}

func (j *job) register(set *pflag.FlagSet) {
	j.wait.Register(set)
	set.IntVarP(&j.conflict, "conflict-exit-code", "E", 1, "exit `status` if the lock is held")
	set.BoolVarP(&j.quiet, "quiet", "q", false, "print nothing if another machine holds the lock")
	set.IntVar(&j.slots, "slots", 0,
		"let this many commands run at the same time. All machines must give the same number")
	set.BoolVarP(&j.shared, "shared", "s", false, "run only at the same time as other commands with --shared")
	set.BoolVarP(&j.exclusive, "exclusive", "x", false,
		"run alone, and before later commands with --shared")
	set.DurationVar(&j.minHold, "at-least", 0,
		"keep the lock for at least this time from the start. At most --max-ttl")
	set.DurationVar(&j.maxHold, "max-hold", 0, "end the command after this time, with SIGTERM (default no limit)")
	set.StringVar(&j.onOutage, "on-outage", outageFails,
		"`what` to do if too few servers answer: fail, or run without the lock. run needs --wait or --no-wait")
	j.publish.Register(set, "Metrics", "metrics of each command", "lockscope_run")
	ui.Group(set, "Waiting", "conflict-exit-code", "quiet", "slots", "shared", "exclusive")
	ui.Group(set, "Command", "at-least", "max-hold", "on-outage")
}

// What --on-outage says.
const (
	outageFails = "fail"
	outageRuns  = "run"
)

// badFlag knows the -c of flock(1).
func badFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedName() == "c" {
		return errors.New(`run has no -c: put a shell's command after --, as in: NAME -- sh -c "COMMAND"`)
	}
	return cmd.Parent().FlagErrorFunc()(cmd, err)
}

func (j *job) validate() error {
	if err := j.wait.Validate(); err != nil {
		return err
	}
	switch {
	case j.conflict < 0 || j.conflict > 255:
		return fmt.Errorf("--conflict-exit-code %d is not an exit status: use 0 to 255", j.conflict)
	case j.slots < 0 || j.slots > records.MaxSlots:
		return fmt.Errorf("--slots %d: use 1 to %d", j.slots, records.MaxSlots)
	case j.shared && j.exclusive, j.slots > 0 && (j.shared || j.exclusive):
		return errors.New("--shared, --exclusive and --slots exclude each other: use one")
	case j.onOutage != outageFails && j.onOutage != outageRuns:
		return fmt.Errorf("--on-outage %q: use %s or %s", j.onOutage, outageFails, outageRuns)
	case j.onOutage == outageRuns && j.wait.Limit == 0 && !j.wait.None:
		return errors.New("--on-outage run needs --wait or --no-wait: without them run waits for the servers")
	case j.onOutage == outageRuns && j.slots > 0:
		return errors.New("--on-outage run and --slots exclude each other: a slot has a number that no other run may have")
	case j.minHold < 0:
		return fmt.Errorf("--at-least %v is negative", j.minHold)
	case j.maxHold < 0:
		return fmt.Errorf("--max-hold %v is negative", j.maxHold)
	}
	return j.publish.Validate()
}

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

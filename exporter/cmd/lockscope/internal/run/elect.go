package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
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

// renewalPoll is how often to look whether a term that was not renewed is valid again.
const renewalPoll = 100 * time.Millisecond

// candidate is one machine's part of an election.
type candidate struct {
	task
	backoff    time.Duration
	maxBackoff time.Duration
}

// perform campaigns and leads until a signal ends it.
func (c *candidate) perform(ctx context.Context, l lock.Locker) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // the signals end it
	defer cancel(nil)
	defer context.AfterFunc(c.signals.Context(), func() { cancel(context.Cause(c.signals.Context())) })()
	log := c.app.Logger.With(slog.String("election", c.name))
	ctx, stop := new(servers.Trouble).Watch(ctx, c.app, func(last error) {
		if !errors.Is(last, lock.ErrHeld) { // a standby says whom it waits for
			log.Warn("too few servers answer: the campaign goes on", slog.Any("error", last))
		}
	})
	defer stop()
	err := election.Run(ctx, l, c.name, func(ctx context.Context, t election.Term) error {
		stop()
		return c.lead(ctx, t)
	}, election.TTL(c.locker.TTL), election.Failed(func(err error) {
		log.Warn("the election failed and is tried again", slog.Any("error", err))
	}), election.Standby(func(_ context.Context, leader lock.Holder) {
		log.Info("standby", slog.String("leader", leader.Instance))
	}))
	_, signalled := errors.AsType[*child.SignalError](err)
	var status *ui.StatusError
	switch {
	case errors.As(err, &status):
		return status
	case signalled || ctx.Err() != nil:
		return c.resigned(err)
	case lock.ReasonOf(err) == lock.ReasonInvalid:
		return err
	}
	return &ui.StatusError{Status: servers.ExitNoLock, Err: err}
}

// resigned reports if nobody can lead before this term has run out.
func (c *candidate) resigned(err error) error {
	if release, ok := errors.AsType[*lock.ReleaseError](err); ok {
		c.app.Logger.Warn("resigned without an answer of a quorum", slog.String("election", c.name),
			slog.Any("error", release))
		return nil
	}
	c.app.Logger.Info("ended", slog.String("election", c.name))
	return nil
}

// term is what a command runs under.
type term struct {
	election.Term
	ctx context.Context
}

// newTerm leaves out that a signal ends the context of a term: the command gets the signal itself, and may take its
// time. If the term is lost meanwhile, Remaining says so.
func newTerm(t election.Term) term {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	context.AfterFunc(t.Context(), func() {
		if _, signalled := errors.AsType[*child.SignalError](context.Cause(t.Context())); !signalled {
			cancel(context.Cause(t.Context()))
		}
	})
	return term{t, ctx}
}

// Context ends when the term is lost.
func (t term) Context() context.Context { return t.ctx }

// lead runs the command, again and again, until ctx ends: the term is lost, or a signal arrived.
func (c *candidate) lead(ctx context.Context, t election.Term) error {
	log := c.app.Logger.With(slog.String("election", c.name), slog.Uint64("term", t.Number()))
	log.Info("leading")
	command := c.child
	command.Env = child.Grant{Resource: c.name, Fence: t.Number(), Slot: -1, Elected: true}.Environment(c.app.Env)
	limits := child.Limits{TTL: c.locker.TTL, KillAfter: c.killAfter, KillAfterSignal: true}
	wait := time.Duration(0)
	for {
		result, err := child.Supervise(newTerm(t), command, limits, c.signals, func(line string) { log.Warn(line) })
		if err != nil {
			return err
		}
		wait = c.next(wait, result)
		log.Info("the command has ended", slog.Int("status", result.Status), slog.Duration("ran", result.Ran),
			slog.Duration("again_in", wait))
		if !ui.Pause(ctx, wait) || !awaitRenewal(ctx, t, limits) {
			return nil
		}
	}
}

// next is the pause before another run: a run that was long enough begins anew.
func (c *candidate) next(last time.Duration, r child.Result) time.Duration {
	if last == 0 || r.Ran >= c.maxBackoff {
		return c.backoff
	}
	return min(2*last, c.maxBackoff)
}

// awaitRenewal keeps a command from being started that would be ended at once.
func awaitRenewal(ctx context.Context, t election.Term, l child.Limits) bool {
	for t.Remaining() <= l.Warning() {
		if !ui.Pause(ctx, renewalPoll) {
			return false
		}
	}
	return ctx.Err() == nil
}

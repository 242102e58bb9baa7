package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

const holdHelp = `Hold a lock yourself, with a reason that everybody who wants it can read.

hold stays in the foreground and renews the lock until ctrl-c, or until --for is over. Then it
releases the lock. If its machine dies, the lock ends after --ttl.`

const holdExample = `  lockscope hold nightly --for 2h --reason "disk swap" --redis r1:6379,r2:6379,r3:6379
  lockscope hold deploy --no-wait --reason "freeze, ticket 4711" --postgres postgres://ops@db/ops`

type holdFlags struct {
	locker   servers.LockFlags
	wait     servers.Wait
	operator person
	span     time.Duration
	name     string
	output   ui.Format
}

// Hold is lockscope hold.
func Hold(a *ui.App) *cobra.Command {
	f := &holdFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "postgres", "etcd", "zookeeper", "for", "reason", "operator", "audit-log", "wait", "no-wait", "ttl",
			"output",
		},
		Exit:   "0 released, 1 held, 2 bad input or no audit log, 125 no lock, lost or not released",
		Topics: []string{"exit-codes", "json", "connection"},
	}.On(&cobra.Command{
		Use: "hold NAME --reason TEXT [flags]", Short: "Hold a lock yourself, with a reason that others can read",
		Long: holdHelp, Example: holdExample, DisableFlagsInUseLine: true, Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.name = args[0]
			return f.run(cmd.Context(), a)
		},
	})
	set := cmd.Flags()
	f.locker.Register(set)
	f.operator.Register(set)
	set.DurationVar(&f.span, "for", time.Hour, "release the lock after this time")
	f.wait.Register(set)
	f.output.Register(set)
	ui.Group(set, "Lock", "for")
	return cmd
}

func (f *holdFlags) validate(a *ui.App) error {
	if f.span <= 0 {
		return fmt.Errorf("--for %v is not positive", f.span)
	}
	if err := f.wait.Validate(); err != nil {
		return err
	}
	if err := f.operator.Validate(a); err != nil {
		return err
	}
	return f.locker.Validate()
}

func (f *holdFlags) run(ctx context.Context, a *ui.App) (err error) {
	if err := f.validate(a); err != nil {
		return err
	}
	log, err := f.operator.Open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	signals := child.Listen(ctx)
	defer signals.Stop()
	f.locker.Instance = f.operator.Name(a)
	e, closeAll, err := f.locker.Open(ctx, a)
	if err != nil {
		return err
	}
	defer closeAll()
	h := &holding{holdFlags: f, app: a, log: log, signals: signals}
	return h.run(e)
}

// actHold is the word for it in the audit log.
const actHold = "hold"

// releaseTimeout bounds how long a release waits for answers. The lock ends by its TTL then.
const releaseTimeout = 5 * time.Second

// holding is one run of the command.
type holding struct {
	*holdFlags
	app     *ui.App
	log     *Log
	signals *child.Signals
	trouble servers.Trouble
}

func (h *holding) run(l lock.Locker) error {
	if err := h.log.Intend(actHold, h.name, fmt.Sprintf(" for=%v reason=%q", h.span, h.operator.Reason)); err != nil {
		return err
	}
	ctx, stop := h.trouble.Watch(h.signals.Context(), h.app, func(last error) { h.say("%s", servers.WaitingFor(h.name, last)) })
	lease, err := lock.AcquireDetached(ctx, l, h.name, append(h.wait.Options(), lock.TTL(h.locker.TTL), lock.MaxHold(h.span),
		lock.HoldReason(h.operator.Reason))...)
	stop()
	if err != nil {
		failed := h.trouble.NotAcquired(h.signals, h.name, err, func(text string) error {
			return &ui.StatusError{Status: ui.ExitFindings, Err: errors.New(text)}
		})
		return errors.Join(failed, h.log.Done(actHold, h.name, "", err))
	}
	if err := h.log.Done(actHold, h.name, fmt.Sprintf("held fence=%d", lease.Fence()), nil); err != nil {
		h.say("%v", err)
	}
	by, until := h.operator.Name(h.app), time.Now().Add(h.span).UTC()
	h.tell(holdDocument{Status: "held", By: by, Reason: h.operator.Reason, Fence: lease.Fence(), Until: until},
		"%q is held by %s until %s: ctrl-c releases it\n", h.name, by, until.Format(time.RFC3339))
	select {
	case <-lease.Context().Done():
	case <-h.signals.Context().Done():
	}
	return h.end(lease)
}

// end releases the lock, and fails if the lock was lost, or may stay until its TTL is over. A hold of --for may end with
// the TTL, before its release.
func (h *holding) end(lease lock.Lease) error {
	cause := context.Cause(lease.Context())
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	err := lease.Release(ctx)
	switch {
	case errors.Is(cause, lock.ErrLost):
		err = h.trouble.Lost(lease, h.name)
	case errors.Is(cause, lock.ErrMaxHold) && errors.Is(err, lock.ErrNotHeld):
		err = nil
	case errors.Is(err, lock.ErrNotHeld):
		err = fmt.Errorf("%q was lost before its release, and others may hold it now: %w", h.name, err)
	case err != nil:
		err = fmt.Errorf("the lock is not released: %w", err)
	}
	if err != nil {
		return errors.Join(&ui.StatusError{Status: servers.ExitNoLock, Err: err}, h.log.Done(actHold, h.name, "", err))
	}
	h.tell(holdDocument{Status: "released"}, "%q is released\n", h.name)
	return h.log.Done(actHold, h.name, "released", nil)
}

// holdDocument is a line of hold in JSON: see the topic json.
type holdDocument struct {
	Schema   int       `json:"schema"`
	Resource string    `json:"resource"`
	Status   string    `json:"status"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Fence    uint64    `json:"fence,string,omitempty"`
	Until    time.Time `json:"until,omitzero"`
}

// tell prints a line, for people or in JSON.
func (h *holding) tell(d holdDocument, format string, args ...any) {
	if h.output == ui.JSON {
		d.Schema, d.Resource = ui.SchemaVersion, h.name
		_ = json.NewEncoder(h.app.Out).Encode(d)
		return
	}
	_, _ = fmt.Fprintf(h.app.Out, format, args...)
}

func (h *holding) say(format string, args ...any) {
	_, _ = fmt.Fprintf(h.app.ErrOut, "lockscope: "+format+"\n", args...)
}

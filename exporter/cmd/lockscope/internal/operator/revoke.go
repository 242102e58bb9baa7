package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const revokeHelp = `End somebody else's lease without breaking the lock.

The servers refuse to renew the lease from now on. Its holder learns who revoked it and why, at the
latest at its next renewal, and its lease ends before anybody else can get the lock. revoke deletes
no key. The holder may acquire the lock again: to prevent that, stop it, or wait for the lock with
"lockscope hold".

On a read/write lock, revoke ends the writer's lease. --readers ends the leases of all readers
instead, and --reader INSTANCE those of one process. A waiting writer is next. If no writer waits,
new readers can get the lock.

revoke works on Redis, PostgreSQL, etcd and ZooKeeper. To end one permit of a semaphore, name its
slot: NAME#3. Locks of other libraries cannot be revoked.`

const revokeExample = `  lockscope revoke nightly --reason "hangs since 02:10" --redis r1:6379,r2:6379,r3:6379
  lockscope revoke exports#3 --reason "ticket 4711" --operator ann --redis-file /etc/lockscope/nodes
  lockscope revoke prices:eu --readers --reason "schema change" --redis-file /etc/lockscope/nodes`

type revokeFlags struct {
	servers  servers.LockFlags
	operator person
	name     string
	readers  bool
	reader   string // an instance
	output   ui.Format
}

// Revoke is lockscope revoke.
func Revoke(a *ui.App) *cobra.Command {
	f := &revokeFlags{}
	cmd := ui.Page{
		Everyday: []string{"redis", "redis-file", "readers", "reader", "reason", "operator", "audit-log", "output"},
		Exit:     "0 revoked, 1 not held, 2 bad input or no audit log, 125 too few servers answered",
		Topics:   []string{"exit-codes", "connection", "json"},
	}.On(&cobra.Command{
		Use: "revoke NAME --reason TEXT [flags]", Short: "End somebody else's lease without breaking the lock",
		Long: revokeHelp, Example: revokeExample, DisableFlagsInUseLine: true, Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.name = args[0]
			return f.run(cmd.Context(), a)
		},
	})
	f.servers.RegisterServers(cmd.Flags())
	cmd.Flags().BoolVar(&f.readers, "readers", false, "end the leases of all readers of a read/write lock")
	cmd.Flags().StringVar(&f.reader, "reader", "", "end those of this `instance` only, as \"lockscope list -o json\" names it")
	ui.Group(cmd.Flags(), "Readers", "readers", "reader")
	ui.CommandLineOnly(cmd.Flags(), "readers", "reader")
	f.operator.Register(cmd.Flags())
	f.output.Register(cmd.Flags())
	return cmd
}

var errBoth = errors.New("both --readers and --reader are set: use --reader for one process, --readers for all")

// oneName does not repeat the arguments: one may be a URL with a password.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the name of one lock, not %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}

func (f *revokeFlags) run(ctx context.Context, a *ui.App) (err error) {
	if f.readers && f.reader != "" {
		return errBoth
	}
	if err := f.operator.Validate(a); err != nil {
		return err
	}
	if err := f.servers.Validate(); err != nil {
		return err
	}
	log, err := f.operator.Open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	e, closeAll, err := f.servers.Open(ctx, a)
	if err != nil {
		return err
	}
	defer closeAll()
	return f.revoke(ctx, a, e, log)
}

// actRevoke is the word for it in the audit log.
const actRevoke = "revoke"

// revoke writes down each lease that is about to end before any server is marked.
func (f *revokeFlags) revoke(ctx context.Context, a *ui.App, e *engine.Engine, log *Log) error {
	req := engine.RevokeRequest{
		By: f.operator.Name(a), Reason: f.operator.Reason, Readers: f.readers || f.reader != "", Instance: f.reader,
	}
	word, intended := "holder", false
	if req.Readers {
		word = "reader"
	}
	req.Confirm = func(holders []lock.Sighting) error {
		for _, s := range holders {
			err := log.Intend(actRevoke, f.name, fmt.Sprintf(" %s=%q since=%s fence=%d reason=%q", word, s.Holder.Instance,
				s.Holder.Since.UTC().Format(time.RFC3339), s.Fence, req.Reason))
			if err != nil {
				return err
			}
			intended = true
		}
		return nil
	}
	r, err := e.Revoke(ctx, f.name, req)
	if err != nil {
		return f.failed(log, intended, err)
	}
	outcome := fmt.Sprintf("marked=%d/%d free_in=%v", r.Marked, r.Nodes, r.FreeIn.Round(time.Millisecond))
	if req.Readers {
		outcome = fmt.Sprintf("readers=%d %s", len(r.Holders), outcome)
	}
	switch {
	case f.output == ui.JSON:
		err = ui.WriteJSON(a.Out, newRevokeDocument(r, req.Readers))
	case req.Readers:
		_, err = fmt.Fprint(a.Out, reportReaders(r))
	default:
		_, err = fmt.Fprint(a.Out, reportRevoked(r))
	}
	return errors.Join(err, log.Done(actRevoke, f.name, "revoked "+outcome, nil))
}

// failed writes down the end of an act that was begun, and of one without a quorum: an incident may turn on it.
func (f *revokeFlags) failed(log *Log, intended bool, err error) error {
	if intended || errors.Is(err, lock.ErrNoQuorum) {
		err = errors.Join(err, log.Done(actRevoke, f.name, "", err))
	}
	return statusOf(err)
}

func statusOf(err error) error {
	switch lock.ReasonOf(err) {
	case lock.ReasonNotHeld:
		return &ui.StatusError{Status: ui.ExitFindings, Err: err}
	case lock.ReasonNoQuorum:
		return &ui.StatusError{Status: servers.ExitNoLock, Err: err}
	}
	return err
}

// maxFree is the longest time that is worth saying: a node has a key without a TTL beyond it.
const maxFree = 365 * 24 * time.Hour

// reportRevoked is what happened, and what to expect.
func reportRevoked(r engine.Revocation) string {
	h := r.Holders[0]
	text := fmt.Sprintf("%q is %s %s\n", r.Resource, servers.HeldBy(h.Holder), servers.Since(h.Holder))
	if h.Again {
		text += earlier(h.Mark)
	}
	text += fmt.Sprintf("%d of %d nodes refuse to renew it from now on\n", r.Marked, r.Nodes)
	if r.FreeIn > maxFree {
		return text + "it is not known when the lock is free: a node has a key that never expires\n"
	}
	return text + fmt.Sprintf("the lock is free at the latest in %v, unless another caller gets it before\n",
		rounded(r.FreeIn))
}

func reportReaders(r engine.Revocation) string {
	text := fmt.Sprintf("%q is read by:\n", r.Resource)
	for _, one := range r.Holders {
		text += "  " + servers.Since(one.Holder) + "\n"
		if one.Again {
			text += "    " + earlier(one.Mark)
		}
	}
	text += fmt.Sprintf("%d of %d nodes refuse to renew these leases from now on\n", r.Marked, r.Nodes)
	if r.FreeIn > maxFree {
		return text + "it is not known when the last of them ends: it does not say for how long it reads\n"
	}
	return text + fmt.Sprintf("these readers hold up a writer for %v at most\n", rounded(r.FreeIn))
}

// earlier is who revoked a lease before.
func earlier(m lock.RevokedError) string {
	return fmt.Sprintf("%s revoked it before, at %s: %s\n", m.By, m.Since.UTC().Format(time.RFC3339), m.Reason)
}

// rounded is a bound that a person reads.
func rounded(d time.Duration) time.Duration {
	return (d + 99*time.Millisecond).Truncate(100 * time.Millisecond)
}

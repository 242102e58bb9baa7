package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// revokeReaders writes down each reader whose lease is about to end before any server is marked.
func (f *revokeFlags) revokeReaders(ctx context.Context, a *ui.App, e *engine.Engine, log *Log) error {
	intended := false
	r, err := e.RevokeReaders(ctx, f.name, lock.RevokeReadersRequest{
		By: f.operator.Name(a), Reason: f.operator.Reason, Instance: f.reader,
		Confirm: func(readers []lock.Sighting) error {
			for _, s := range readers {
				err := log.Intend(actRevoke, f.name, fmt.Sprintf(" reader=%q since=%s fence=%d reason=%q", s.Holder.Instance,
					s.Holder.Since.UTC().Format(time.RFC3339), s.Fence, f.operator.Reason))
				if err != nil {
					return err
				}
				intended = true
			}
			return nil
		},
	})
	if err != nil {
		return f.failed(log, intended, err)
	}
	_, printed := fmt.Fprint(a.Out, reportReaders(r, time.Now()))
	return errors.Join(printed, log.Done(actRevoke, f.name, fmt.Sprintf("revoked readers=%d marked=%d/%d free_in=%v",
		len(r.Readers), r.Marked, r.Nodes, r.FreeIn.Round(time.Millisecond)), nil))
}

// reportReaders is what happened, and what to expect.
func reportReaders(r lock.ReadersRevocation, now time.Time) string {
	text := fmt.Sprintf("%q is read by:\n", r.Resource)
	for _, one := range r.Readers {
		h := one.Holder
		text += fmt.Sprintf("  %s since %s (%v)\n", h.Instance, h.Since.UTC().Format(time.RFC3339),
			now.Sub(h.Since).Round(time.Second))
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

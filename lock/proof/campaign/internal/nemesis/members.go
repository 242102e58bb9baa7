//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	// changeTries is how often an operator runs the change again.
	changeTries = 20
	// oldTime is how long a process with the old configuration goes on beside the new ones.
	oldTime = 5 * time.Second
)

// changeMembers is what an operator does who adds or removes two nodes: the change, then
// the processes one after the other. One of them goes on with the old configuration for a
// while, and is refused.
func (n *Nemesis) changeMembers(ctx context.Context, f Fault, d *Done) error {
	crew := n.site.Crew
	from := crew.Members()
	d.Detail = fmt.Sprintf("from %d to %d", from, f.Other)
	if err := n.reconfigure(ctx, from, f.Other); err != nil {
		return err
	}
	n.forgetCopies()
	crew.SetMembers(f.Other)
	var errs []error
	for client := range n.site.Clients {
		if client != f.Client {
			errs = append(errs, crew.Stop(client), crew.Start(client))
		}
	}
	sleep(ctx, oldTime)
	return errors.Join(append(errs, crew.Stop(f.Client), crew.Start(f.Client))...)
}

func (n *Nemesis) reconfigure(ctx context.Context, from, to int) (err error) {
	before, closeBefore := n.site.Configuration(from)
	defer closeBefore()
	after, closeAfter := n.site.Configuration(to)
	defer closeAfter()
	for range changeTries {
		var away []string
		away, err = redlock.Reconfigure(ctx, before, after)
		if err == nil && len(away) > 0 {
			err = fmt.Errorf("away: %v", away)
		}
		if err == nil || !sleep(ctx, time.Second) {
			return err
		}
	}
	return err
}

//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

func (n *Nemesis) stopClient(ctx context.Context, f Fault, d *Done) error {
	d.Clients = []int{f.Client}
	w := n.site.Crew.Current(f.Client)
	if w == nil {
		return errSkipped
	}
	d.Worker = w.Name
	if err := w.Freeze(); err != nil {
		return gone(err)
	}
	sleep(ctx, f.For)
	return gone(w.Thaw())
}

// gone is for a process that has ended meanwhile: then there is nothing to do to it.
func gone(err error) error {
	if errors.Is(err, process.ErrExited) {
		return errors.Join(errSkipped, err)
	}
	return err
}

func (n *Nemesis) killClient(ctx context.Context, f Fault, d *Done) error {
	d.Clients = []int{f.Client}
	if err := n.site.Crew.Kill(f.Client); err != nil {
		return err
	}
	sleep(ctx, f.For)
	return n.site.Crew.Start(f.Client)
}

// starveClient stops a process for most of every tenth of a second, as a CPU quota does to
// a container.
func (n *Nemesis) starveClient(ctx context.Context, f Fault, d *Done) error {
	const period = 100 * time.Millisecond
	stopped := time.Duration(f.Amount) * time.Millisecond
	d.Clients, d.Detail = []int{f.Client}, fmt.Sprintf("%v of each %v", stopped, period)
	w := n.site.Crew.Current(f.Client)
	if w == nil {
		return errSkipped
	}
	d.Worker = w.Name
	for until := time.Now().Add(f.For); time.Now().Before(until) && ctx.Err() == nil; {
		if err := w.Freeze(); err != nil {
			return gone(err)
		}
		sleep(ctx, stopped)
		if err := w.Thaw(); err != nil {
			return gone(err)
		}
		sleep(ctx, period-stopped)
	}
	return nil
}

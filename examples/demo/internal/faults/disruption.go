package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
)

// Pauser is a server that can be made to hang.
type Pauser interface {
	Pause() error
	Resume() error
}

// Disruption takes a server away for a while.
type Disruption struct {
	Word, What     string // as PAUSE, and what happens, for the screen
	Take           func() error
	BackWord, Back string
	GiveBack       func() error  // nil: it stays away
	Seen           func() string // what is different just before it is given back; may be nil
	Did            string        // what the closing lines say, up to how long it took
}

// Disrupt compares what the services can do meanwhile with what they usually can.
func (f *Faults) Disrupt(d Disruption) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		f.Out.Event(screen.Yellow, d.Word, "%s", d.What)
		before, _ := f.Ledger.Acquisitions()
		grants, unfollow := f.Ledger.Follow(ledger.AnyResource)
		defer unfollow()
		taken := time.Now()
		if err := d.Take(); err != nil {
			return "", err
		}
		still := &standstill{out: f.Out, last: taken}
		still.follow(ctx, grants, time.Until(taken.Add(f.Brief())))
		during, seen := f.rate(before, taken), ""
		if d.Seen != nil && ctx.Err() == nil {
			seen = d.Seen()
		}
		if d.GiveBack != nil {
			if err := d.GiveBack(); err != nil {
				return "", err
			}
			f.Out.Event(screen.Green, d.BackWord, "%s", d.Back)
		}
		took := time.Since(taken)
		if !still.awaitGrant(ctx, grants) {
			return "", nil
		}
		return fmt.Sprintf("%s %s: %.0f acquisitions/s before, %.0f meanwhile%s%s", d.Did, screen.Short(took), f.usual(),
			during, still, seen), nil
	}
}

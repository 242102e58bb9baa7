package servers

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// Wait says how long a command waits for its lock.
type Wait struct {
	Limit time.Duration // 0: until the lock is free, unless the flag says 0
	None  bool

	set *pflag.FlagSet
}

// Register adds the flags.
func (w *Wait) Register(set *pflag.FlagSet) {
	w.set = set
	set.DurationVarP(&w.Limit, "wait", "w", 0, "give up after this time (default no limit)")
	set.BoolVarP(&w.None, "no-wait", "n", false, "give up at once if the lock is held")
	ui.Group(set, "Waiting", "wait", "no-wait")
}

func (w *Wait) given() bool { return w.set != nil && w.set.Changed("wait") }

// Validate refuses values that make no sense.
func (w *Wait) Validate() error {
	switch {
	case w.Limit < 0:
		return fmt.Errorf("--wait %v is negative", w.Limit)
	case w.None && w.given():
		return errors.New("--wait and --no-wait exclude each other: use one")
	}
	return nil
}

// Options are those of the acquisition.
func (w *Wait) Options() []lock.AcquireOption {
	switch {
	case w.None || w.given() && w.Limit == 0:
		return []lock.AcquireOption{lock.NoWait()}
	case w.Limit > 0:
		return []lock.AcquireOption{lock.MaxWait(w.Limit)}
	}
	return nil
}

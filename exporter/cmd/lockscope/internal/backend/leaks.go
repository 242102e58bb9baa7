package backend

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// LeakRules say what is a finding, by the flags of scan.
type LeakRules struct {
	MaxTTL, MaxHold time.Duration
	MaxTerm         time.Duration  // of leaders of elections; zero: no limit
	Checks          []report.Class // what is looked for
	Orphans         bool           // orphans were asked for by name
	Prefixes        []string       // beside the backend's own
	Schema          bool           // the schema of pglock was named, so it has to be there
	AllowEmpty      bool           // finding no locks at all is complete
	Most            int            // findings to keep
	Deadline        time.Duration
	ConfirmAfter    time.Duration
}

// Wants reports whether a class of findings is looked for.
func (r *LeakRules) Wants(class report.Class) bool { return slices.Contains(r.Checks, class) }

// HoldLimit is how long a holder may have a lock; zero: as long as it wants.
func (r *LeakRules) HoldLimit(kind lock.Kind) time.Duration {
	if kind == lock.KindElection {
		return r.MaxTerm
	}
	return r.MaxHold
}

// Leaks is what one look at a system has found.
type Leaks struct{ report.Look }

// HoldOf is the holder as findings have it.
func HoldOf(h lock.Holder, fence uint64) report.Hold {
	if h == (lock.Holder{}) {
		return report.Hold{Format: report.FormatUnknown}
	}
	return report.Hold{Holder: h, Format: report.FormatLockscope, Fence: fence}
}

// AddHeld adds what is wrong with a lock that lockscope's own driver took, or nothing.
func (l *Leaks) AddHeld(r *LeakRules, k *inspect.HeldLock, place, identity string, now time.Time) {
	f := report.Finding{Place: place, Key: k.Key, Type: k.Type, TTL: k.Remaining, Hold: HoldOf(k.Holder, k.Fence)}
	add := func(class report.Class, format string, args ...any) {
		f.Class, f.Evidence = class, fmt.Sprintf(format, args...)
		if r.Wants(class) {
			l.Add(f, identity)
		}
	}
	limit := r.HoldLimit(k.Holder.Kind)
	held := now.Sub(k.Holder.Since)
	switch {
	case k.Remaining < 0:
		add(report.NoTTL, "it never expires: it stays until its holder or a person deletes it")
		return
	case k.Remaining > r.MaxTTL:
		add(report.LongTTL, "its TTL is %s, longer than the limit of %s", ui.Whole(k.Remaining), ui.Whole(r.MaxTTL))
	}
	if !k.Holder.Since.IsZero() && limit > 0 && held > limit {
		add(report.HeldTooLong, "one holder has had it for %s, longer than the limit of %s", ui.Whole(held), ui.Whole(limit))
	}
}

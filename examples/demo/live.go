package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/ledger"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// showLive writes a line every interval until ctx ends. silence is how it calls that
// nobody can be granted anything.
func showLive(ctx context.Context, out *screen.Screen, l *ledger.Ledger, b *live.Board, silence string,
	every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	before, at := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			total, held := l.Acquisitions()
			rate := float64(total-before) / now.Sub(at).Seconds()
			st := screen.Plain
			if total == before {
				st = screen.Red
			}
			out.At(st, "%s", liveLine(rate, held, b.State(ctx), silence))
			before, at = total, now
		}
	}
}

const liveFormat = "%5s %8v %5v   %-13s %-13s %6s   %-13s %6s"

func liveHead() string {
	return fmt.Sprintf("%8s  "+liveFormat, "time", "acq/s", "waiting", "held", "longest wait", "of", "for",
		"blocked by", "since")
}

func liveLine(rate float64, held int, s state.State, silence string) string {
	waiting := s.Waiting
	var longest state.Waiter
	var waited, who, since string
	if len(waiting) > 0 {
		longest = waiting[0]
		waited = screen.Short(fromSeconds(longest.For))
		who, since = blockedBy(longest, waiting, silence)
	}
	line := fmt.Sprintf(liveFormat, fmt.Sprintf("%.0f", rate), s.Totals.Waiting, held, longest.Resource,
		longest.Instance, waited, who, since)
	return strings.TrimRight(line, " ")
}

// blockedBy names the holder and says how long it has been holding, or what keeps
// everybody waiting if no answer comes: silence.
func blockedBy(w state.Waiter, all []state.Waiter, silence string) (who, since string) {
	switch {
	case slices.ContainsFunc(all, func(other state.Waiter) bool {
		return other.Error != "" && other.Resource == w.Resource && other.Instance == w.Instance
	}):
		return silence, "" // says the one in front, where others queue behind
	case w.Blocker == nil:
		return "", ""
	case w.Blocker.HandedOver:
		return "(hand-over)", ""
	case w.Blocker.Holder == "":
		return "(unknown)", ""
	case w.Blocker.Age == nil:
		return w.Blocker.Holder, ""
	}
	return w.Blocker.Holder, screen.Short(fromSeconds(*w.Blocker.Age))
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

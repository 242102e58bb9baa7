package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// live writes a line every interval until ctx ends.
func live(ctx context.Context, out *screen, l *ledger, b *board, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	before, at := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			total, held := l.acquisitions()
			waiting, longest := b.longest()
			rate := float64(total-before) / now.Sub(at).Seconds()
			st := plain
			if total == before {
				st = red
			}
			out.at(st, "%s", liveLine(rate, waiting, held, longest))
			before, at = total, now
		}
	}
}

const liveFormat = "%5s %8v %5v   %-13s %-13s %6s   %-13s %6s"

func liveHead() string {
	return fmt.Sprintf("%8s  "+liveFormat, "time", "acq/s", "waiting", "held", "longest wait", "of", "for", "blocked by", "since")
}

func liveLine(rate float64, waiting, held int, longest waiter) string {
	var waited, who, since string
	if waiting > 0 {
		waited = short(time.Since(longest.since))
		who, since = longest.blockedBy()
	}
	line := fmt.Sprintf(liveFormat, fmt.Sprintf("%.0f", rate), waiting, held, longest.resource, longest.instance, waited, who, since)
	return strings.TrimRight(line, " ")
}

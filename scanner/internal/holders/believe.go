package holders

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
)

// clockSlack is how far a holder's clock may be off before its time is ignored.
const clockSlack = 30 * time.Second

// Believe compares the time that a value claims with what was seen. If they contradict each other, what was seen
// counts.
func Believe(said time.Time, seen *Observed, now time.Time) (since time.Time, doubt string) {
	const text = "; the holder's clock is %v or more %s, so this counts from when the scanner first saw it"
	switch {
	case said.After(now.Add(clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(said.Sub(now)), "ahead")
	case !seen.First.IsZero() && said.After(seen.First.Add(clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(said.Sub(seen.First)), "ahead")
	case !seen.Whole.IsZero() && said.Before(seen.Whole.Add(-clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(seen.Whole.Sub(said)), "behind")
	}
	return said, ""
}

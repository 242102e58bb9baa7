package discover

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
)

// limits are what is proposed for a pattern, and why. A limit that is zero is the default;
// with noTTL, a zero maxHold is none.
type limits struct {
	maxTTL, maxHold time.Duration
	noTTL           bool
	why             []string
}

// with suits the locks of both: the longest decides.
func (l limits) with(other limits) limits {
	both := limits{maxTTL: max(l.maxTTL, other.maxTTL), noTTL: l.noTTL || other.noTTL, why: l.why}
	if l.limitsHold() && other.limitsHold() && l.maxHold != other.maxHold {
		both.maxHold = max(cmp.Or(l.maxHold, scanner.DefaultHoldLimit), cmp.Or(other.maxHold, scanner.DefaultHoldLimit))
	} else if l.limitsHold() && other.limitsHold() {
		both.maxHold = l.maxHold
	}
	for _, why := range other.why {
		if !slices.Contains(both.why, why) {
			both.why = append(both.why, why)
		}
	}
	return both
}

func (l limits) limitsHold() bool { return !l.noTTL || l.maxHold > 0 }

// write is the pattern's line, and the reasons above it.
func (l limits) write(b *strings.Builder, mark, pattern string) {
	for _, why := range l.why {
		fmt.Fprintf(b, "      # %s\n", why)
	}
	fmt.Fprintf(b, "%s- %s\n", mark, l.text(pattern))
}

func (l limits) text(pattern string) string {
	parts := []string{"pattern: " + strconv.Quote(pattern)}
	if prefix, whole := strings.CutSuffix(strings.ReplaceAll(pattern, `\`, ""), "*"); whole &&
		scanner.PrefixPattern(prefix) == pattern {
		parts[0] = "prefix: " + strconv.Quote(prefix)
	}
	if l.noTTL {
		parts = append(parts, "no_ttl_allowed: true")
	}
	if l.maxTTL > 0 {
		parts = append(parts, "max_ttl: "+days(l.maxTTL))
	}
	if l.maxHold > 0 {
		parts = append(parts, "max_hold: "+days(l.maxHold))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// propose follows what the library does by design, and the TTLs seen.
func propose(f *discover.Found) (l limits) {
	const day = 24 * time.Hour
	if f.MaxTTL > 0 {
		l.maxTTL = roundedUp(max(2*f.MaxTTL, f.MaxLife))
		l.why = append(l.why, "max_ttl is at least twice the longest remaining TTL seen.")
	}
	if f.Others > 0 {
		l.why = append(l.why, fmt.Sprintf("Not used: the pattern matches %s, too, and they would be findings.",
			inspect.Count(f.Others, "key of another kind")))
	}
	l.noTTL, l.maxHold = f.Lasting || f.Foreign && f.NoTTL > 0, f.MaxHold
	if f.HeldForTTL {
		l.maxHold = cmp.Or(l.maxTTL, day)
	}
	switch {
	case f.Advice != "":
		l.why = append(l.why, f.Advice)
	case f.Lasting:
		l.why = append(l.why, "It has no TTL by design: one that a dead process left looks like any other.")
	case f.NoTTL > 0:
		l.why = append(l.why, fmt.Sprintf("%d never expire: if that is by design, set no_ttl_allowed: true.",
			f.NoTTL))
	}
	return l
}

// roundedUp is the next duration that people use.
func roundedUp(d time.Duration) time.Duration {
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	for _, nice := range []time.Duration{
		minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day,
		30 * day,
	} {
		if d <= nice {
			return nice
		}
	}
	return (d + day - 1) / day * day
}

// days writes a duration as the configuration has it.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

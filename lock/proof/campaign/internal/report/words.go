//go:build linux

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

func sortBy[T any](all []T, by func(T) int64) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}

// quantile is of sorted durations; 100 is the largest, and 0 is that of none.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

// short rounds to three digits.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// thousands writes a number with spaces in it.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

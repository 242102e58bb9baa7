package judge

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// Excludes returns the index of the exclusion that keeps a key out now, or -1.
func (r *Rules) Excludes(key string, now time.Time) int {
	for i, e := range r.Exclusions {
		if now.Before(e.Until) && keyreader.Matches(e.Pattern, key) {
			return i
		}
	}
	return -1
}

// Excluded reports what the exclusions did. findings counts what each kept out.
func (r *Rules) Excluded(findings []int, now time.Time) []report.Excluded {
	var all []report.Excluded
	for i, e := range r.Exclusions {
		all = append(all, report.Excluded{Exclusion: e, Findings: findings[i], Ended: !now.Before(e.Until)})
	}
	return all
}

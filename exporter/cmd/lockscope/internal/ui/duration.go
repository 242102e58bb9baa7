package ui

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

const day = 24 * time.Hour

// dayText begins a duration with whole weeks and days.
var dayText = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,5})d)?(.*)$`)

// ErrBadDuration says that a text is no duration. It does not repeat the text.
var ErrBadDuration = errors.New("not a duration: use a form such as 1d12h, 90m, 10s or 250ms")

// ParseDuration reads what [time.ParseDuration] does, and days (1d) and weeks (2w) before
// that. A day has 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(text, "-")
	m := dayText.FindStringSubmatch(rest)
	if m == nil || text == "" {
		return 0, ErrBadDuration
	}
	var d time.Duration
	for i, unit := range []time.Duration{7 * day, day} {
		var n int64
		if m[i+1] != "" {
			_, _ = fmt.Sscan(m[i+1], &n) // digits only, few of them
		}
		d += time.Duration(n) * unit
	}
	if d < 0 { // more than 292 years
		return 0, ErrBadDuration
	}
	if m[3] != "" || m[1]+m[2] == "" {
		tail, err := time.ParseDuration(m[3])
		if err != nil || tail < 0 {
			return 0, ErrBadDuration
		}
		d += tail
	}
	if d < 0 {
		return 0, ErrBadDuration
	}
	if negative {
		d = -d
	}
	return d, nil
}

// AllowDays lets all durations of a set be given in days and weeks, too.
func AllowDays(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if _, already := f.Value.(*duration); f.Value.Type() == "duration" && !already {
			f.Value = &duration{f.Value}
		}
	})
}

// duration is a flag for durations that knows days.
type duration struct{ pflag.Value }

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	parsed, err := ParseDuration(text)
	if err != nil {
		return err
	}
	return d.Value.Set(parsed.String())
}

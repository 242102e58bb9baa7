package ui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// List is a flag that may be repeated and may hold several values separated by
// commas. The first value given replaces the default.
type List struct {
	values []string
	kind   string
	given  bool
}

// NewList makes a List; kind names one value in the help.
func NewList(kind string, defaults ...string) *List { return &List{values: defaults, kind: kind} }

// Values returns what was given, in order and without empty elements.
func (l *List) Values() []string { return slices.Clone(l.values) }

// Given says whether the values are others than the defaults.
func (l *List) Given() bool { return l.given }

// Set implements pflag.Value. It takes anything; the code that uses the values
// checks them.
func (l *List) Set(text string) error {
	if !l.given {
		l.values, l.given = nil, true
	}
	for v := range strings.SplitSeq(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			l.values = append(l.values, v)
		}
	}
	return nil
}

// String implements pflag.Value.
func (l *List) String() string { return strings.Join(l.values, ",") }

// Type implements pflag.Value.
func (l *List) Type() string { return l.kind }

// Optional is a flag for a duration without a default, since no number says what happens without it. Its zero value is
// ready for use.
type Optional struct {
	Value time.Duration
	Given bool
}

// Set implements pflag.Value.
func (o *Optional) Set(text string) error {
	d, err := ParseDuration(text)
	if err == nil {
		o.Value, o.Given = d, true
	}
	return err
}

// String implements pflag.Value.
func (o *Optional) String() string {
	if !o.Given {
		return ""
	}
	return o.Value.String()
}

// Type implements pflag.Value.
func (o *Optional) Type() string { return "duration" }

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

// Package timespan reads the spans of time that people ask a history for.
package timespan

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// Default is how long a span is if only one of its ends is given, or none.
	Default = 10 * time.Minute
	// Longest is how long a span may be.
	Longest = 24 * time.Hour
)

// Errors of Parse.
var (
	ErrForm   = errors.New("use a time such as 02:10 or 02:10:30, an RFC 3339 time, or a duration before now such as -10m")
	ErrOrder  = errors.New("must be after from")
	ErrFuture = errors.New("is in the future")
	ErrLong   = fmt.Errorf("is more than %v before to", Longest)
)

// Span is a span of time.
type Span struct{ From, To time.Time }

// Parse reads the ends of a span. Each may be
//
//   - empty: to is now, and from is [Default] before to;
//   - a duration before now: -10m;
//   - a time of day, 02:10 or 02:10:30, in the location of now: from is the last one that has passed, to is the first
//     one after from, or the last one that has passed if from is empty;
//   - a time in RFC 3339.
//
// If to is later than now, it is now. Fractions of a second are dropped.
func Parse(from, to string, now time.Time) (s Span, err error) {
	now = now.Truncate(time.Second)
	if s.From, err = one(from, now); err != nil {
		return Span{}, fmt.Errorf("from %q: %w", from, err)
	}
	if s.To, err = one(to, now); err != nil {
		return Span{}, fmt.Errorf("to %q: %w", to, err)
	}
	if isTimeOfDay(to) && from != "" {
		s.To = after(s.To, s.From)
	}
	switch {
	case to == "":
		s.To = now
	case s.To.After(now):
		s.To = now
	}
	if from == "" {
		s.From = s.To.Add(-Default)
	}
	switch {
	case s.From.After(now):
		return Span{}, fmt.Errorf("from %q: %w", from, ErrFuture)
	case !s.To.After(s.From):
		return Span{}, fmt.Errorf("to %q: %w", to, ErrOrder)
	case s.To.Sub(s.From) > Longest:
		return Span{}, fmt.Errorf("from %q: %w", from, ErrLong)
	}
	return s, nil
}

// one reads an end of a span. It is zero for an empty text.
func one(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if strings.HasPrefix(text, "-") {
		d, err := time.ParseDuration(text)
		if err != nil || d > 0 {
			return time.Time{}, ErrForm
		}
		return now.Add(d).Truncate(time.Second), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.Truncate(time.Second), nil
	}
	if clock, ok := timeOfDay(text); ok {
		return before(clock, now), nil
	}
	return time.Time{}, ErrForm
}

func timeOfDay(text string) (clock time.Time, ok bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if clock, err := time.Parse(layout, text); err == nil {
			return clock, true
		}
	}
	return time.Time{}, false
}

func isTimeOfDay(text string) bool {
	_, ok := timeOfDay(text)
	return ok
}

// on is a time of day on the day of another time.
func on(clock, day time.Time, days int) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d+days, clock.Hour(), clock.Minute(), clock.Second(), 0, day.Location())
}

// before is the last time of day that has passed.
func before(clock, now time.Time) time.Time {
	if today := on(clock, now, 0); !today.After(now) {
		return today
	}
	return on(clock, now, -1)
}

// after is the first time of day after from. clock is such a time on any day.
func after(clock, from time.Time) time.Time {
	from = from.In(clock.Location())
	if sameDay := on(clock, from, 0); sameDay.After(from) {
		return sameDay
	}
	return on(clock, from, 1)
}

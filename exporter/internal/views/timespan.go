package views

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// defaultSpan is how long a span is if only one of its ends is given, or none.
	defaultSpan = 10 * time.Minute
	// longestSpan is how long a span may be.
	longestSpan = 24 * time.Hour
)

// Errors of parseSpan.
var (
	errForm   = errors.New("use a time such as 02:10 or 02:10:30, an RFC 3339 time, or a duration before now such as -10m")
	errOrder  = errors.New("must be after from")
	errFuture = errors.New("is in the future")
	errLong   = fmt.Errorf("is more than %v before to", longestSpan)
)

// span is a span of time that somebody asks for.
type span struct{ from, to time.Time }

// parseSpan reads the ends of a span. Each may be
//
//   - empty: to is now, and from is [defaultSpan] before to;
//   - a duration before now: -10m;
//   - a time of day, 02:10 or 02:10:30, in the location of now: from is the last one that has passed, to is the first
//     one after from, or the last one that has passed if from is empty;
//   - a time in RFC 3339.
//
// If to is later than now, it is now. Fractions of a second are dropped.
func parseSpan(from, to string, now time.Time) (s span, err error) {
	now = now.Truncate(time.Second)
	if s.from, err = readEnd(from, now); err != nil {
		return span{}, fmt.Errorf("from %q: %w", from, err)
	}
	if s.to, err = readEnd(to, now); err != nil {
		return span{}, fmt.Errorf("to %q: %w", to, err)
	}
	if isTimeOfDay(to) && from != "" {
		s.to = firstAfter(s.to, s.from)
	}
	switch {
	case to == "":
		s.to = now
	case s.to.After(now):
		s.to = now
	}
	if from == "" {
		s.from = s.to.Add(-defaultSpan)
	}
	switch {
	case s.from.After(now):
		return span{}, fmt.Errorf("from %q: %w", from, errFuture)
	case !s.to.After(s.from):
		return span{}, fmt.Errorf("to %q: %w", to, errOrder)
	case s.to.Sub(s.from) > longestSpan:
		return span{}, fmt.Errorf("from %q: %w", from, errLong)
	}
	return s, nil
}

// readEnd reads an end of a span. It is zero for an empty text.
func readEnd(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if strings.HasPrefix(text, "-") {
		d, err := time.ParseDuration(text)
		if err != nil || d > 0 {
			return time.Time{}, errForm
		}
		return now.Add(d).Truncate(time.Second), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.Truncate(time.Second), nil
	}
	if clock, ok := timeOfDay(text); ok {
		return lastBefore(clock, now), nil
	}
	return time.Time{}, errForm
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

// onDay is a time of day on the day of another time.
func onDay(clock, day time.Time, days int) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d+days, clock.Hour(), clock.Minute(), clock.Second(), 0, day.Location())
}

// lastBefore is the last time of day that has passed.
func lastBefore(clock, now time.Time) time.Time {
	if today := onDay(clock, now, 0); !today.After(now) {
		return today
	}
	return onDay(clock, now, -1)
}

// firstAfter is the first time of day after from. clock is such a time on any day.
func firstAfter(clock, from time.Time) time.Time {
	from = from.In(clock.Location())
	if sameDay := onDay(clock, from, 0); sameDay.After(from) {
		return sameDay
	}
	return onDay(clock, from, 1)
}

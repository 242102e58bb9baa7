package views

import (
	"errors"
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 24, 2, 30, 5, 700, zone)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 11, d, h, m, s, 0, zone) }
	for _, c := range []struct {
		from, to       string
		wantFrom, want time.Time
	}{
		{"", "", day(24, 2, 20, 5), day(24, 2, 30, 5)},
		{"02:10", "02:20", day(24, 2, 10, 0), day(24, 2, 20, 0)},
		{"02:10:30", "", day(24, 2, 10, 30), day(24, 2, 30, 5)},
		{"", "02:20", day(24, 2, 10, 0), day(24, 2, 20, 0)},
		{"23:50", "00:10", day(23, 23, 50, 0), day(24, 0, 10, 0)},
		{"02:20", "02:40", day(24, 2, 20, 0), day(24, 2, 30, 5)},
		{"03:00", "03:10", day(23, 3, 0, 0), day(23, 3, 10, 0)},
		{"-1h", "-30m", day(24, 1, 30, 5), day(24, 2, 0, 5)},
		{"-1h", "02:00", day(24, 1, 30, 5), day(24, 2, 0, 0)},
		{"2026-11-24T01:00:00Z", "2026-11-24T01:10:00Z", day(24, 2, 0, 0), day(24, 2, 10, 0)},
		{"2026-11-24T01:00:00Z", "02:10", day(24, 2, 0, 0), day(24, 2, 10, 0)},
	} {
		s, err := parseSpan(c.from, c.to, now)
		if err != nil || !s.from.Equal(c.wantFrom) || !s.to.Equal(c.want) {
			t.Errorf("from %q to %q: %v to %v, %v; want %v to %v", c.from, c.to, s.from, s.to, err, c.wantFrom, c.want)
		}
	}
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"yesterday", "", errForm}, {"", "25:00", errForm}, {"10m", "", errForm}, {"-1x", "", errForm},
		{"-10m", "-20m", errOrder}, {"2026-11-25T01:00:00Z", "", errFuture}, {"-25h", "", errLong},
		{"2000-01-01T00:00:00Z", "", errLong},
	} {
		if s, err := parseSpan(c.from, c.to, now); !errors.Is(err, c.want) {
			t.Errorf("from %q to %q: %v, %v; want %v", c.from, c.to, s, err, c.want)
		}
	}
}

// TestDaylightSaving: a time of day is that of the clock on the wall.
func TestDaylightSaving(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 25, 5, 0, 0, 0, berlin) // the clock was set back at 3:00
	s, err := parseSpan("01:30", "04:30", now)
	if err != nil || s.to.Sub(s.from) != 4*time.Hour {
		t.Errorf("%v to %v, %v", s.from, s.to, err)
	}
}

// FuzzSpan: the query of the page and the flags of history.
func FuzzSpan(f *testing.F) {
	f.Add("02:10", "02:30", int64(1795697208))
	f.Add("-10m", "", int64(1795697208))
	f.Add("2026-11-26T02:10:00+23:59", "0000-01-01T00:00:00Z", int64(0))
	f.Add("-2540400h10m", "23:59:60", int64(-62135596800))
	f.Fuzz(func(t *testing.T, from, to string, at int64) {
		now := time.Unix(at, 0).UTC()
		s, err := parseSpan(from, to, now)
		if err == nil && (!s.to.After(s.from) || s.to.After(now) || s.to.Sub(s.from) > longestSpan) {
			t.Fatalf("parseSpan(%q, %q, %v) = %v", from, to, now, s)
		}
	})
}

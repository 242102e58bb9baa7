package ui

import (
	"slices"
	"testing"
)

func TestShortDuration(t *testing.T) {
	for text, want := range map[string]string{
		"24h0m0s": "24h", "1m0s": "1m", "1h30m0s": "1h30m", "10s": "10s", "250ms": "250ms", "1m30s": "1m30s",
		"expire=1h0m0s": "expire=1h", "1000": "1000", "lock:": "lock:", "10m0s": "10m", "20h0m0s": "20h",
	} {
		if got := shortDuration(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"incomprehensible word", 5, []string{"incomprehensible", "word"}},
		{"", 5, []string{""}},
	} {
		if got := fold(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

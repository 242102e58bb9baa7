package screen

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	got := strings.Join(wrap("one two  three extraordinary", 9), "|")
	if want := "one two|three|extraordinary"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

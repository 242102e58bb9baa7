package ui

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestOptional tells a duration of zero from none.
func TestOptional(t *testing.T) {
	for text, want := range map[string]Optional{"": {}, "0s": {0, true}, "20ms": {20 * time.Millisecond, true}} {
		var got Optional
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.Var(&got, "pause", "")
		AllowDays(set)
		if text != "" {
			if err := set.Parse([]string{"--pause", text}); err != nil {
				t.Fatal(err)
			}
		}
		if got != want || set.Lookup("pause").DefValue != "" {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
	if err := new(Optional).Set("x"); err == nil {
		t.Error("a text that is no duration is taken")
	}
}

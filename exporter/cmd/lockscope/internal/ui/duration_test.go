package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1d": day, "2w": 14 * day, "1w1d": 8 * day, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "0": 0,
		"-1d":   -day,
		"-5s":   -5 * time.Second,
		"1h30m": 90 * time.Minute, "0.5h": 30 * time.Minute,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "d", "1d-5s", "1.5d", "1h1d", "--1d", "999999d", "9999w99999d",
		"15250w1d", "9999w290y", "9999w2562047h", "s3cr3t"} {
		if got, err := ParseDuration(text); err != ErrBadDuration {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestAllowDays(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	ttl := set.Duration("max-ttl", time.Hour, "")
	AllowDays(set)
	AllowDays(set)
	if got := set.Lookup("max-ttl").DefValue; got != "1h0m0s" {
		t.Errorf("default %s", got)
	}
	if err := set.Parse([]string{"--max-ttl=1d"}); err != nil || *ttl != day {
		t.Errorf("%v, %v", *ttl, err)
	}
	if got, err := set.GetDuration("max-ttl"); err != nil || got != day {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParseDuration(f *testing.F) {
	f.Add("2w1d12h")
	f.Add("-9999w99999d")
	f.Add("-1w-1h")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil && d != 0 || err == nil && d < 0 != strings.HasPrefix(text, "-") && d != 0 {
			t.Fatalf("ParseDuration(%q) = %v, %v", text, d, err)
		}
	})
}

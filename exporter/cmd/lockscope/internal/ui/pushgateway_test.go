package ui

import (
	"strings"
	"testing"
)

func FuzzParseGateway(f *testing.F) {
	f.Add("http://user:", "@push:9091/base")
	f.Add("https://", "@h")
	f.Add("http://a/%", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Tr0ub4dor"
		g, err := parseGateway(before+secret+after, "lockscope")
		if (g == nil) == (err == nil) || err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("%v, %v", g, err)
		}
		if g != nil && g.user != nil && strings.Contains(g.user.String(), secret) &&
			strings.Contains(g.shown, secret) && strings.Count(before+after, secret) == 0 {
			t.Fatalf("the password is shown: %q", g.shown)
		}
	})
}

package lock

import (
	"errors"
	"strings"
	"testing"
)

func FuzzValidateResource(f *testing.F) {
	for _, s := range []string{"", "a", "order:1001", "a{b", "b}", "x\x00", "\x7f", "ünï",
		strings.Repeat("y", MaxResourceLength+1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := ValidateResource(name)
		bad := name == "" || len(name) > MaxResourceLength || strings.ContainsAny(name, "{}\x7f") ||
			strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 })
		if bad != (err != nil) {
			t.Fatalf("ValidateResource(%q) = %v", name, err)
		}
		if err != nil {
			if !errors.Is(err, ErrInvalidResource) {
				t.Fatalf("untyped error %v", err)
			}
		}
	})
}

package lock

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzValidateResource(f *testing.F) {
	for _, s := range []string{"", "a", "order:1001", "a{b", "b}", "x\x00", "\x7f", "ünï",
		strings.Repeat("y", MaxResourceLength+1), "a\u0085b", "a\u009b2J", "a\u202eb", "\u2066a", "a\u2028", "\xff",
		"a\u00a0\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := ValidateResource(name)
		bad := name == "" || len(name) > MaxResourceLength || strings.ContainsAny(name, "{}") ||
			strings.ContainsFunc(name, hidden) || !utf8.ValidString(name)
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

// hidden is what a terminal obeys, as tables of its own say.
func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}

// TestHiddenCharacters are refused in names.
func TestHiddenCharacters(t *testing.T) {
	for _, text := range []string{"a\u0085b", "a\u009b2J", "a\u202eb", "a\u2066b", "a\u061cb", "a\u2028b", "a\xffb",
		"a\x7fb", "a\nb"} {
		if err := ValidateResource(text); !errors.Is(err, ErrInvalidResource) || hasHidden(err) {
			t.Errorf("resource %q: %v", text, err)
		}
	}
	for _, text := range []string{"ünï", "日本", "a\u00a0b", "👩\u200d🔧"} {
		if err := ValidateResource(text); err != nil {
			t.Error(err)
		}
	}
}

func hasHidden(err error) bool {
	return strings.ContainsFunc(err.Error(), hidden) || !utf8.ValidString(err.Error())
}

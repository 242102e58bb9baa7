package records

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func TestMarkSurvivesTheRoundTrip(t *testing.T) {
	at := time.UnixMilli(1763700000123)
	by, reason, since := ParseMark(string(AppendMark(nil, "ops@host", "disk swap", at)))
	if by != "ops@host" || reason != "disk swap" || !since.Equal(at) {
		t.Errorf("%q, %q, %v", by, reason, since)
	}
}

// TestHiddenCharacters are refused in reasons as in names of resources.
func TestHiddenCharacters(t *testing.T) {
	for _, text := range []string{"", "a\u0085b", "a\u202eb", "a\xffb", "a\x7fb", "a\nb", strings.Repeat("x", MaxByLength+1)} {
		if err := ValidateBy(text); !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("name %q: %v", text, err)
		}
		if err := ValidateReason(text); len(text) <= MaxByLength && !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("reason %q: %v", text, err)
		}
	}
	for _, text := range []string{"ünï", "日本", "a\u00a0b", "👩\u200d🔧"} {
		if err := errors.Join(ValidateBy(text), ValidateReason(text)); err != nil {
			t.Error(err)
		}
	}
}

// FuzzMark: whatever a node stores, what is read of it is bounded and printable, and stays the same when it is written.
func FuzzMark(f *testing.F) {
	f.Add("ops@host|1763700000123|disk swap")
	f.Add("")
	f.Add("a|b|c|d")
	f.Add(strings.Repeat("x", 200) + "|1|\x00" + strings.Repeat("y", 300))
	f.Fuzz(func(t *testing.T, record string) {
		by, reason, since := ParseMark(record)
		if len(by) > MaxByLength || len(reason) > lock.MaxReasonLength || strings.ContainsAny(by+reason, "\x00\n\x7f|") {
			t.Fatalf("%q gives %q, %q", record, by, reason)
		}
		by2, reason2, since2 := ParseMark(string(AppendMark(nil, by, reason, since)))
		if by2 != by || reason2 != reason || !since.IsZero() && !since2.Equal(since) {
			t.Fatalf("%q: %q, %q, %v; read again %q, %q, %v", record, by, reason, since, by2, reason2, since2)
		}
	})
}

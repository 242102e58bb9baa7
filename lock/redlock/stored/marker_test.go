package stored

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func TestReadMarker(t *testing.T) {
	names := []string{"b", "a", "c"}
	f := string(guard.NewFingerprint(names, time.Minute))
	counted := "quarantine|" + f + "|me|0|nonce.1|60602|1000|2000"
	for text, want := range map[string]MarkerState{
		"":                                      MarkerNone,
		"voting|" + f + "|me|0":                 MarkerVoting,
		"quarantine|" + f + "|me|0|n|1|0|0":     MarkerQuarantined,
		counted:                                 MarkerQuarantined,
		"changing|" + f + "|me|0|n|1|0|0|f0":    MarkerChanging,
		"voting|" + f + "|other|0":              MarkerLeftover,
		"voting|" + f + "|me|1":                 MarkerLeftover,
		"changing|" + f + "|other|0|n|1|0|0|f0": MarkerChanging,
		"voting":                                MarkerLeftover,
		"voting|" + f + "|me":                   MarkerLeftover,
		"voting|" + f + "|me|0|more":            MarkerLeftover,
		"quarantine|" + f + "|me|0|n|1|0":       MarkerLeftover,
		"quarantine|" + f + "|me|0|n|x|0|0":     MarkerLeftover,
		"something|" + f + "|me|0":              MarkerLeftover,
		"vouched|me|nonce":                      MarkerLeftover,
	} {
		if got := ReadMarker(text, "me", 0); got.State != want {
			t.Errorf("%q: %v, want %v", text, got.State, want)
		}
	}
	if got := ReadMarker("voting|"+f+"||0", "", 0); got.State != MarkerLeftover {
		t.Errorf("of a server without run_id: %v", got)
	}
	m := ReadMarker(counted, "me", 0)
	if !m.Of([]string{"a", "b", "c"}, time.Minute) || m.Of([]string{"a", "b"}, time.Minute) || m.Of(names, time.Hour) {
		t.Errorf("of which configuration is %+v?", m)
	}
	if left := m.Left(time.Minute, time.UnixMilli(12_000)); m.Identity != "nonce.1" || left != 50602*time.Millisecond {
		t.Errorf("%v left of %q", left, m.Identity)
	}
}

// TestReadMarkerWithoutRunID: a server that reports no run_id has an identity in its marker, and one whose run_id is not
// known has none.
func TestReadMarkerWithoutRunID(t *testing.T) {
	for value, want := range map[string]MarkerState{
		"voting|3:60000:0123456789ab|mark-ABCDEF|0":   MarkerVoting,
		"voting|3:60000:0123456789ab|mark-ABCDEF+3|0": MarkerVoting,
		"voting|3:60000:0123456789ab|mark-ABCDEF|1":   MarkerLeftover,
		"voting|3:60000:0123456789ab|a065bd0433da|0":  MarkerLeftover,
	} {
		if got := ReadMarker(value, "", 0).State; got != want {
			t.Errorf("%s is %v, want %v", value, got, want)
		}
	}
}

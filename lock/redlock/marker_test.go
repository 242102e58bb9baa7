package redlock

import "testing"

func TestReadMarker(t *testing.T) {
	for text, want := range map[string]Marker{
		"": MarkerNone, "vouched|me|nonce": MarkerVouched, "vouching|me|nonce": MarkerVouching, "vouched|other|nonce": MarkerLeftover, "vouching|other|nonce": MarkerLeftover, "vouched": MarkerLeftover, "vouched|me": MarkerLeftover, "something|me|x": MarkerLeftover,
	} {
		if got := ReadMarker(text, "me"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := ReadMarker("vouched||nonce", ""); got != MarkerLeftover {
		t.Errorf("of a server without run_id: %v", got)
	}
}

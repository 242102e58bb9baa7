package label

import "testing"

func TestSlot(t *testing.T) {
	for name, want := range map[string]string{
		"pool#0": "pool", "pool:7#99": "pool:7", "a#b#1": "a#b",
		"pool": "", "pool#": "", "pool#x": "", "#1": "", "1": "", "": "", "pool#1x": "", "order:1001": "",
	} {
		if got, ok := Slot(name); got != want || ok != (want != "") {
			t.Errorf("Slot(%q) = %q, %v", name, got, ok)
		}
	}
}

package report

import "testing"

func TestSlotsText(t *testing.T) {
	for want, r := range map[string]SlotRange{"7": {7, 7}, "0-5460": {0, 5460}} {
		if got := slotsText(r); got != want {
			t.Errorf("%v: %s, want %s", r, got, want)
		}
	}
}

package report

import "testing"

func TestKeyText(t *testing.T) {
	for key, want := range map[string]string{
		"lock:order:1": "lock:order:1", "": `""`, `"x`: `"\"x"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "größe": "größe",
		"lock:a\u0085b": `"lock:a\u0085b"`, "lock:\u202eb": `"lock:\u202eb"`,
	} {
		if got := KeyText(key); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
}

func TestSlotsText(t *testing.T) {
	for want, r := range map[string]SlotRange{"7": {7, 7}, "0-5460": {0, 5460}} {
		if got := slotsText(r); got != want {
			t.Errorf("%v: %s, want %s", r, got, want)
		}
	}
}

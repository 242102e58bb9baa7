package server

import "testing"

// TestKeySlot has what CLUSTER KEYSLOT of a Redis 7 says.
func TestKeySlot(t *testing.T) {
	for key, want := range map[string]int{
		"123456789": 0x31c3 % SlotCount, "": 0, "foo": 12182, "{foo}bar": 12182, "a{foo}{b}": 12182, "{}foo": KeySlot("{}foo"), "foo{": KeySlot("foo{"),
	} {
		if got := KeySlot(key); got != want {
			t.Errorf("KeySlot(%q) = %d, want %d", key, got, want)
		}
	}
	if KeySlot("{}foo") == KeySlot("{}bar") {
		t.Error("an empty tag is a tag")
	}
}

package ui

import "testing"

func TestUserOf(t *testing.T) {
	for uid, want := range map[int]string{0: "root", 987_654: "uid 987654", -1: ""} {
		if got := UserOf(uid); got != want {
			t.Errorf("%d: %q, want %q", uid, got, want)
		}
	}
}

package ui

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestUnnamedHolder: only one that never expires is known to be a leak.
func TestUnnamedHolder(t *testing.T) {
	for ttl, want := range map[time.Duration]string{-1: "unnamed, never expires", 0: "unnamed", time.Second: "unnamed"} {
		if got := Holder(inspect.Hold{}, ttl); got != want {
			t.Errorf("with a TTL of %v: %q, want %q", ttl, got, want)
		}
	}
	if got := Holder(inspect.Hold{Holder: lock.Holder{Instance: "orders-1"}}, -1); got != "orders-1" {
		t.Errorf("named %q", got)
	}
}

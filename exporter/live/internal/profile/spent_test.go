package profile

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestHolderNames: the table of who makes others wait has the name that other views have.
func TestHolderNames(t *testing.T) {
	named := lock.Holder{Instance: "billing/1"}
	for want, held := range map[string]*lock.HeldError{
		"billing/1":              {Holder: named, Remaining: -1},
		"unnamed, never expires": {Remaining: -1},
		"unnamed":                {Remaining: time.Second},
		"being handed over":      {HandedOver: true},
		"":                       nil,
	} {
		of := HolderOf(locktrace.WaitHolder, held)
		if got := of.Name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if held != nil && of.Counts() == held.HandedOver {
			t.Errorf("%q: counts %v", want, of.Counts())
		}
	}
}

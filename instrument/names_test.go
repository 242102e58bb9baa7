package instrument_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestNamesAreThoseOfLocks: exactly the names that lock refuses take no slot.
func TestNamesAreThoseOfLocks(t *testing.T) {
	engine, err := memlock.New(memlock.NewNodes(1))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, name := range []string{"", "a", "{a}", "a\nb", "a\x7f", "ä", "\xff",
		strings.Repeat("a", lock.MaxResourceLength), strings.Repeat("a", lock.MaxResourceLength+1)} {
		lease, err := engine.Acquire(t.Context(), name)
		if valid := lock.ValidateResource(name) == nil; valid != !errors.Is(err, lock.ErrInvalidResource) {
			t.Errorf("%q: valid: %v, but lock says %v", name, valid, err)
		}
		if err == nil {
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

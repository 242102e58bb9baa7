package label

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
)

func TestName(t *testing.T) {
	for resource, want := range map[string]string{
		"pool#0": "pool", "pool:7#99": "pool:7", "a#b#1": "a#b",
		"pool": "pool", "pool#": "pool#", "pool#x": "pool#x", "#1": "#1", "pool#1x": "pool#1x", "order:1001": "order:1001",
	} {
		asked := false
		of := func(kind lock.Kind) func() lock.Kind { return func() lock.Kind { asked = true; return kind } }
		if got := Name(resource, of(lock.KindSemaphore)); got != want || asked != (want != resource) {
			t.Errorf("slot %q: %q, options asked: %v", resource, got, asked)
		}
		if got := Name(resource, of("")); got != resource {
			t.Errorf("lock %q: %q", resource, got)
		}
	}
}

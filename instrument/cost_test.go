//go:build !race

package instrument_test

import (
	"context"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestCost limits metrics alone to three allocations. With the race detector sync.Pool forgets on purpose, so make test
// runs this test once more without it.
func TestCost(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	allocs := func(l lock.Locker) float64 {
		return testing.AllocsPerRun(1000, func() { pair(t, ctx, l) })
	}
	bare, measured := allocs(&noop{}), allocs(wrap(t, &noop{}, variants(t)[0].opts...))
	if measured-bare > 3 {
		t.Errorf("%v allocations more than %v", measured-bare, bare)
	}
}

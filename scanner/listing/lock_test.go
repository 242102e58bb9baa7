package listing

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

func TestOrders(t *testing.T) {
	locks := []Lock{
		{Key: "a", Resource: "a", TTL: time.Second, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(5, 0)}}},
		{Key: "b", Resource: "b", TTL: -1},
		{Key: "c", Resource: "c", TTL: time.Hour, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(3, 0)}}},
		{Key: "d", Resource: "d", TTL: 0, Hold: inspect.Hold{Holder: lock.Holder{Since: time.Unix(9, 0)}}},
	}
	for order, want := range map[Order]string{ByTTL: "bcad", ByAge: "cadb", ByResource: "abcd"} {
		compare := order.comparison()
		sorted := slices.Clone(locks)
		slices.SortFunc(sorted, func(a, b Lock) int { return compare(&a, &b) })
		got := ""
		for _, l := range sorted {
			got += l.Key
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
}

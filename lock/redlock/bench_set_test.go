package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/lockset"
)

// BenchmarkSet is one uncontended set, acquired and released, alternating with its floor: as many
// locks one after the other. floor-x is the ratio of the medians.
func BenchmarkSet(b *testing.B) {
	for _, nodes := range []int{1, 5} {
		for _, size := range []int{2, 5} {
			b.Run(fmt.Sprintf("nodes=%d/size=%d", nodes, size), func(b *testing.B) {
				ctx, cancel := cancellable()
				defer cancel()
				locker := benchLocker(b, benchServers(b, nodes))
				names := make([]string, size)
				for i := range names {
					names[i] = fmt.Sprintf("set:%d", i)
				}
				floors := make([]time.Duration, 0, b.N)
				times := make([]time.Duration, 0, b.N)
				for b.Loop() {
					began := time.Now()
					for _, name := range names {
						if err := lockPair(ctx, locker, name); err != nil {
							b.Fatal(err)
						}
					}
					floors = append(floors, time.Since(began))
					began = time.Now()
					err := lockset.Do(ctx, locker, names, func(context.Context, *lockset.Set) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(began))
				}
				report(b, floors, times)
			})
		}
	}
}

package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// slotBySlot hides that the nodes have one queue for all slots of a semaphore.
type slotBySlot struct{ lock.Locker }

// BenchmarkPermitHandOffs runs processes of one caller each on two permits, each held for a millisecond: with one queue
// for both slots, and with a queue for each. An iteration is two seconds of each; run it with -benchtime=3x.
func BenchmarkPermitHandOffs(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, waiters := range []int{2, 10, 50} {
			b.Run(fmt.Sprintf("nodes=%d/waiters=%d", n, waiters), func(b *testing.B) { benchHandOffs(b, n, waiters) })
		}
	}
}

func benchHandOffs(b *testing.B, n, waiters int) {
	const slots, hold = 2, time.Millisecond
	servers := benchServers(b, n)
	ctx := context.Background()
	ways := []*handOffs{{name: ""}, {name: "slot-by-slot-"}}
	for i, way := range ways {
		way.ledger = newLedger(waiters + slots)
		for range waiters + slots {
			var l lock.Locker = benchLocker(b, servers)
			if i == 1 {
				l = slotBySlot{l}
			}
			s, err := semaphore.New(l, "handoffs "+way.name, slots)
			if err != nil {
				b.Fatal(err)
			}
			way.processes = append(way.processes, s)
		}
	}
	for b.Loop() {
		for _, way := range ways {
			before, _ := commandCount(b, servers)
			way.ledger.run(b, hold, func(w int) (func() error, error) {
				p, err := way.processes[w].Acquire(ctx)
				if err != nil {
					return nil, err
				}
				return func() error { return p.Release(ctx) }, nil
			})
			after, _ := commandCount(b, servers)
			way.commands += after - before
		}
	}
	for _, way := range ways {
		acquired := float64(way.ledger.acquired())
		b.ReportMetric(acquired/way.ledger.ran.Seconds(), way.name+"acq/s")
		b.ReportMetric(float64(way.commands)/acquired, way.name+"commands/acq")
		b.ReportMetric(float64(quantile(way.ledger.waits, .5).Microseconds())/1000, way.name+"p50-ms")
		b.ReportMetric(float64(quantile(way.ledger.waits, .99).Microseconds())/1000, way.name+"p99-ms")
	}
}

// handOffs is one way to wait.
type handOffs struct {
	name      string
	processes []*semaphore.Semaphore
	ledger    *ledger
	commands  int
}

package redsynclock_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/compare"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

var peers = []compare.Peer{
	{Name: "redsync", Client: func(b *testing.B,
		servers []string) compare.Pair { // first: what the other is compared to
		rs := redsync.New(poolsOf(b, servers)...)
		return func(resource string, work func()) error {
			m := rs.NewMutex(resource, redsync.WithTries(1_000_000))
			if err := m.Lock(); err != nil {
				return err
			}
			work()
			_, err := m.Unlock()
			return err
		}
	}},
	{Name: "redsynclock", Client: func(b *testing.B, servers []string) compare.Pair {
		l := closing(b)(redsynclock.New(poolsOf(b, servers), lock.WithNodeTimeout(nodeTimeout)))
		return func(resource string, work func()) error {
			return lock.Do(context.Background(), l, resource,
				func(context.Context, lock.Lease) error { work(); return nil })
		}
	}},
}

func addresses(b *testing.B, n int) (all []string) {
	for _, s := range locktest.Servers(b, n) {
		all = append(all, s.Addr())
	}
	return all
}

// BenchmarkPair is a lock that nobody contends for.
func BenchmarkPair(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n, " pools"), func(b *testing.B) { compare.Pairs(b, addresses(b, n), peers) })
	}
}

// BenchmarkHandOffs is how often a second the lock is had, and changes hands, between processes that want it all the
// time.
func BenchmarkHandOffs(b *testing.B) {
	compare.HandOffs(b, "BenchmarkContender", addresses(b, 1), peers)
}

// BenchmarkContender is one of these.
func BenchmarkContender(b *testing.B) { compare.Contender(b, peers) }

package zklock_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/zklock/zkproc"
)

// peer makes clients that contend with each other as processes do.
type peer struct {
	name   string
	client func(b *testing.B, e *zkproc.Ensemble) locktest.Pair
}

// floor is what no lock can do without: two proposals, and nothing else.
func floor(b *testing.B, e *zkproc.Ensemble) locktest.Pair {
	conn, anyone := client(b, e), zk.WorldACL(zk.PermAll)
	if _, err := conn.Create("/floor", nil, zk.FlagPersistent, anyone); err != nil {
		b.Fatal(err)
	}
	return func(resource string, work func()) error {
		path, err := conn.Create("/floor/"+resource, nil, zk.FlagEphemeral|zk.FlagSequence, anyone)
		if err != nil {
			return err
		}
		work()
		return conn.Delete(path, -1)
	}
}

func plainLock(b *testing.B, e *zkproc.Ensemble) locktest.Pair {
	conn := client(b, e)
	return func(resource string, work func()) error {
		l := zk.NewLock(conn, "/locks/"+resource, zk.WorldACL(zk.PermAll))
		if err := l.Lock(); err != nil {
			return err
		}
		work()
		return l.Unlock()
	}
}

func ours(b *testing.B, e *zkproc.Ensemble) locktest.Pair {
	l := locker(b, e)
	return func(resource string, work func()) error {
		return lock.Do(context.Background(), l, resource, func(context.Context, lock.Lease) error { work(); return nil })
	}
}

var locks = []peer{{"zk.Lock", plainLock}, {"zklock", ours}}

// BenchmarkPair is the time of a pair that nobody contends for, on servers that wait for the disk; the peers take turns.
func BenchmarkPair(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n, " servers"), func(b *testing.B) {
			e := ensemble(b, n, zkproc.WithSync())
			peers := append([]peer{{"floor", floor}}, locks...)
			times := make([][]time.Duration, len(peers))
			var clients []locktest.Pair
			for _, p := range peers {
				clients = append(clients, p.client(b, e))
			}
			for i := 0; b.Loop(); i++ {
				for j, do := range clients {
					began := time.Now()
					must(b, do("job", func() {}))
					if i > 0 { // the first connects
						times[j] = append(times[j], time.Since(began))
					}
				}
			}
			for j, p := range peers {
				slices.Sort(times[j])
				if len(times[j]) > 0 {
					b.ReportMetric(float64(times[j][len(times[j])/2].Microseconds()), "us-"+p.name)
				}
			}
		})
	}
}

// BenchmarkHandOffs is how often a second the lock changes hands, between clients that want it all the time, and Jain's index of
// fairness.
func BenchmarkHandOffs(b *testing.B) {
	const stretch = 5 * time.Second
	e := ensemble(b, 1, zkproc.WithSync())
	for _, n := range []int{2, 8} {
		for _, p := range locks {
			b.Run(fmt.Sprint(n, " clients/", p.name), func(b *testing.B) {
				var clients []locktest.Pair
				for range n {
					clients = append(clients, p.client(b, e))
				}
				var seen locktest.Contention
				for b.Loop() {
					seen = locktest.Contend(b, stretch, clients)
				}
				seen.Report(b)
			})
		}
	}
}

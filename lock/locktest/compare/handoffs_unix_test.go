//go:build unix

package compare

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestContentionIsCountedByTheClock(t *testing.T) {
	c := contention([][]int64{{1, 2, 5}, {4, 3}, nil}, 500*time.Millisecond)
	if want := 25. / (3 * 13); c.Locks != 10 || c.HandOffs != 6 || math.Abs(c.Jain-want) > 1e-9 { // won by 0 0 1 1 0
		t.Errorf("%+v, want 10 locks and 6 hand-offs a second, and a Jain index of %v", c, want)
	}
}

// fileLocks are locks on one file, between processes.
var fileLocks = []Peer{{"flock", func(b *testing.B, servers []string) Pair {
	f, err := os.Create(servers[0])
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return func(_ string, work func()) error {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			return err
		}
		work()
		return unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
}}}

func BenchmarkContender(b *testing.B) { Contender(b, fileLocks) }

// TestProcessesContend starts this program twice.
func TestProcessesContend(t *testing.T) {
	once(t)
	var seen result
	ran := testing.Benchmark(func(b *testing.B) {
		seen = contend(b, "BenchmarkContender", 2,
			task{"flock", []string{filepath.Join(t.TempDir(), "lock")}, 100 * time.Millisecond})
	})
	if ran.N != 1 || seen.HandOffs < 1 || seen.HandOffs > seen.Locks || seen.Jain <= 0.5 {
		t.Errorf("%+v of two processes, after %d runs", seen, ran.N)
	}
}

// once makes a benchmark run once, whatever time it takes.
func once(t *testing.T) {
	const benchTime = "test.benchtime"
	before := flag.Lookup(benchTime).Value.String()
	set := func(to string) {
		if err := flag.Set(benchTime, to); err != nil {
			t.Fatal(err)
		}
	}
	set("1x")
	t.Cleanup(func() { set(before) })
}

package simulation

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/lock"
)

// simHistories is the number of histories of a search, simRaceHistories with the race detector.
const (
	simHistories     = 10000
	simRaceHistories = 100
)

var (
	seedFlag = flag.Uint64("seed", 0,
		"first seed of each simulation; alone, replays that one history and tells it event by event")
	historiesFlag = flag.Int("histories", 0, "number of histories of each simulation; 0 for all, or few with -race")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if raceEnabled {
		// In Go 1.26 all timers of a synctest bubble share one context in the race detector. Two threads that poll
		// timers may use it at once: SIGSEGV in (*timer).maybeRunChan, in one of some dozens of runs. One thread still
		// finds races, because the detector compares the order of events, not their times.
		runtime.GOMAXPROCS(1)
	}
	goleak.VerifyTestMain(m)
}

// maker makes the history of a seed.
type maker func(seed uint64) (*plan, plant)

// TestSimulation runs random histories and checks the promises of package lock in each.
func TestSimulation(t *testing.T) {
	count, handed := simulate(t, simHistories, simRaceHistories,
		func(seed uint64) (*plan, plant) { return newPlan(seed, scope{}), plant{} })
	if handed < count/10 && !t.Failed() {
		t.Error("hardly any lease was handed over")
	}
}

// simulate runs all histories, or those that the flags name, or few with the race detector.
func simulate(t *testing.T, all, few int, make maker) (count, handed int) {
	first := *seedFlag
	switch count = *historiesFlag; {
	case first != 0 && count == 0:
		replay(t, first, make)
		return 0, 0
	case count > 0:
	case testing.Short():
		count = all / 20
	case raceEnabled:
		count = few
		t.Logf("with the race detector: %d histories instead of %d", count, all)
	default:
		count = all
	}
	first = max(first, 1)
	began := time.Now()
	found, leases, handed := search(t, first, count, 10, make)
	took := time.Since(began)
	t.Logf("%d histories from seed %d in %v, %.0f a second, %d leases, %d of them handed over, %d violated",
		count, first, took.Round(time.Millisecond), float64(count)/took.Seconds(), leases, handed, len(found))
	for _, out := range found {
		t.Errorf("seed %d:\n%s\nreplay: cd lock/locktest/simulation && go test -run '^%s$' -v -args -seed=%d",
			out.seed, strings.Join(out.violations, "\n"), t.Name(), out.seed)
	}
	return count, handed
}

// replay runs one history. Because the seed does not fix the order of goroutines at one instant, it runs the history a
// few times until a violation shows.
func replay(t *testing.T, seed uint64, make maker) {
	const tries = 50
	var lines []string
	var mu sync.Mutex
	for try := range tries {
		lines = lines[:0]
		p, pl := make(seed)
		out := run(t, p, pl, func(line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		})
		if len(out.violations) > 0 {
			fmt.Fprintf(os.Stdout, "%v%s\n", p, strings.Join(lines, "\n"))
			t.Fatalf("seed %d, try %d:\n%s", seed, try+1, strings.Join(out.violations, "\n"))
		}
		if try == tries-1 {
			fmt.Fprintf(os.Stdout, "%v%s\n", p, strings.Join(lines, "\n"))
		}
	}
	t.Logf("seed %d: nothing violated in %d tries", seed, tries)
}

// search runs histories on all processors until enough of them are violated.
func search(t *testing.T, first uint64, count, most int, make maker) (found []outcome, leases, handed int) {
	var next, total, over atomic.Int64
	var mu sync.Mutex
	t.Run("histories", func(t *testing.T) {
		for w := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for {
					i := next.Add(1) - 1
					mu.Lock()
					enough := i >= int64(count) || len(found) >= most
					mu.Unlock()
					if enough {
						return
					}
					p, pl := make(first + uint64(i))
					out := guarded(t, p, pl)
					total.Add(int64(out.leases))
					over.Add(int64(out.handed))
					if len(out.violations) > 0 {
						mu.Lock()
						found = append(found, out)
						mu.Unlock()
					}
				}
			})
		}
	})
	return found, int(total.Load()), int(over.Load())
}

// stuckAfter is long, because a history that takes a third of a second may get little processor time.
const stuckAfter = 5 * time.Minute

// guarded prints the seed of a history that panics or gets stuck, as one does if a goroutine is left in the bubble.
func guarded(t *testing.T, p *plan, pl plant) outcome {
	stuck := time.AfterFunc(stuckAfter, func() { panic(fmt.Sprintf("seed %d is stuck", p.seed)) })
	defer stuck.Stop()
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("seed %d: %v", p.seed, r))
		}
	}()
	return run(t, p, pl, nil)
}

// TestSimulationOrder: callers are served in the order in which they came, in a process and between processes, with the
// exceptions that are documented.
func TestSimulationOrder(t *testing.T) {
	s := scope{calm: true, resources: 1, crowds: true}
	for name, make := range map[string]maker{
		"locks":      func(seed uint64) (*plan, plant) { return newPlan(seed, s), plant{} },
		"semaphores": func(seed uint64) (*plan, plant) { return newConstructPlan(seed, lock.KindSemaphore, s), plant{} },
	} {
		t.Run(name, func(t *testing.T) { simulate(t, constructHistories, constructRaceHistories, make) })
	}
}

package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// result is the result of several clients that contended for one lock.
type result struct {
	Locks    float64 // a second
	HandOffs float64 // a second: those after which another client had it than before
	Jain     float64 // fairness after Jain: 1 if all had it as often, 1/n if one of n had it alone
}

// report adds the results to a benchmark's metrics.
func (c result) report(b *testing.B) {
	b.ReportMetric(c.Locks, "locks/s")
	b.ReportMetric(c.HandOffs, "hand-offs/s")
	b.ReportMetric(c.Jain, "jain")
}

// task is the task of a contending process.
type task struct {
	Peer    string
	Servers []string
	Stretch time.Duration
}

const taskEnv = "LOCKTEST_CONTENDER"

// Contender runs the contending client in processes that [HandOffs] starts. Call it in the benchmark
// that HandOffs names. In any other process it does nothing.
func Contender(b *testing.B, peers []Peer) {
	b.Helper()
	var t task
	if json.Unmarshal([]byte(os.Getenv(taskEnv)), &t) != nil {
		return
	}
	at := slices.IndexFunc(peers, func(p Peer) bool { return p.Name == t.Peer })
	if at < 0 {
		b.Fatalf("there is no %q", t.Peer)
	}
	if err := t.run(peers[at].Client(b, t.Servers)); err != nil {
		b.Fatal(err)
	}
}

// run acquires the lock as often as it can once all processes have connected. It reports the times to the process that
// started this one.
func (t task) run(do Pair) error {
	if err := do(fmt.Sprint("of-its-own-", os.Getpid()), func() {}); err != nil {
		return err
	}
	to := os.NewFile(3, "contention")
	if _, err := fmt.Fprintln(to, "ready"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var had []int64
	for end := time.Now().Add(t.Stretch); time.Now().Before(end); {
		if err := do("contended", func() { had = append(had, time.Now().UnixNano()) }); err != nil {
			return err
		}
	}
	return errors.Join(json.NewEncoder(to).Encode(had), to.Close())
}

// contend lets n processes acquire one lock. They report when they held it, on the machine's clock.
func contend(b *testing.B, client string, n int, t task) result {
	b.Helper()
	told, err := json.Marshal(t)
	if err != nil {
		b.Fatal(err)
	}
	all := make([]*contending, n)
	for i := range all {
		all[i] = startContender(b, client, string(told))
	}
	for _, p := range all {
		if line, err := p.from.ReadString('\n'); line != "ready\n" {
			b.Fatalf("a client did not connect: %v\n%s", err, p.said.String())
		}
	}
	for _, p := range all {
		if _, err := fmt.Fprintln(p.start, "go"); err != nil {
			b.Fatal(err)
		}
	}
	counts := make([][]int64, n)
	for i, p := range all {
		if err := json.NewDecoder(p.from).Decode(&counts[i]); err != nil {
			b.Fatalf("a client did not end: %v\n%s", err, p.said.String())
		}
	}
	return contention(counts, t.Stretch)
}

// contending is a process that does.
type contending struct {
	start *os.File // written to when all are ready
	from  *bufio.Reader
	said  strings.Builder
}

func startContender(b *testing.B, client, told string) *contending {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	in, start, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	p := &contending{start: start, from: bufio.NewReader(from)}
	cmd := exec.Command(program, "-test.run=^$", "-test.bench=^"+client+"$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), taskEnv+"="+told)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = in, &p.said, &p.said, []*os.File{out}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	b.Cleanup(func() {
		_ = start.Close()
		_ = from.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("a client ended with %v\n%s", err, p.said.String())
		}
	})
	return p
}

// contention evaluates the times at which each client held the lock.
func contention(counts [][]int64, d time.Duration) (c result) {
	type turn struct {
		at  int64
		who int
	}
	var turns []turn
	var squares float64
	for who, had := range counts {
		for _, at := range had {
			turns = append(turns, turn{at, who})
		}
		squares += float64(len(had)) * float64(len(had))
	}
	slices.SortFunc(turns, func(x, y turn) int { return cmp.Compare(x.at, y.at) })
	last := -1
	for _, t := range turns {
		if t.who != last {
			c.HandOffs++
		}
		last = t.who
	}
	c.Locks = float64(len(turns))
	c.Jain = c.Locks * c.Locks / (float64(len(counts)) * max(squares, 1))
	c.Locks, c.HandOffs = c.Locks/d.Seconds(), c.HandOffs/d.Seconds()
	return c
}

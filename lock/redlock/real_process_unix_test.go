//go:build unix

package redlock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/redlock"
)

// contender is the job of a child process: it increments a register again and again, in two steps under the lock.
type contender struct {
	Nodes    []string
	Register string // address of the server that keeps the register
	Workers  int
	Rounds   int // of each worker
	TTL      time.Duration
	UntilEOF bool // go on after that until standard input ends
	Stepwise bool // print "read" after reading, and wait for a line before writing
}

// contenderResult counts what happened to a contender's writes.
type contenderResult struct {
	Accepted, Rejected, Lost int
	Err                      string
}

const childTimeout = 90 * time.Second

// The register is a store that knows the highest fence it has seen and rejects lower ones. It also does so on reads:
// otherwise an older holder's write could follow a newer holder's read.
var (
	readRegister = redis.NewScript(`
		if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or '0') then return -1 end
		redis.call('HSET', KEYS[1], 'fence', ARGV[1])
		return tonumber(redis.call('HGET', KEYS[1], 'value') or '0')`)
	writeRegister = redis.NewScript(`
		if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or '0') then return -1 end
		redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
		return 1`)
)

const register = "register"

func init() { childMain = runChild }

// childJob is the job of a child process: one of these.
type childJob struct {
	Contender *contender
	Starved   *starved
	Reading   *readingJob
}

// runChild is main of a child process.
func runChild(job string) int {
	var j childJob
	if err := json.Unmarshal([]byte(job), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
	defer cancel()
	var result any
	switch {
	case j.Starved != nil:
		result = j.Starved.run(ctx)
	case j.Reading != nil:
		result = j.Reading.run(ctx)
	default:
		result = j.Contender.run(ctx)
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
	return 0
}

func (c contender) run(ctx context.Context) (sum contenderResult) {
	var clients []redis.UniversalClient
	for _, addr := range c.Nodes {
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		clients = append(clients, client)
	}
	l, err := redlock.New(clients, lock.WithNodeTimeout(nodeTimeout), redlock.WithRestartQuarantine(0))
	if err != nil {
		return contenderResult{Err: err.Error()}
	}
	defer l.Close()
	// The answer to a write may wait for as long as this process is stopped. To write again would be rejected.
	store := redis.NewClient(&redis.Options{Addr: c.Register, ReadTimeout: time.Minute, MaxRetries: -1})
	defer store.Close()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var ended atomic.Bool
	if c.UntilEOF {
		wg.Go(func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			ended.Store(true)
		})
	}
	for range c.Workers {
		wg.Go(func() {
			for i := 0; i < c.Rounds || c.UntilEOF && !ended.Load(); i++ {
				accepted, lost, err := c.increment(ctx, l, store)
				mu.Lock()
				switch {
				case err != nil:
					sum.Err = err.Error()
				case accepted:
					sum.Accepted++
				default:
					sum.Rejected++
				}
				if lost {
					sum.Lost++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum
}

// increment does not check the lease between its steps: only the store keeps a late writer out.
func (c contender) increment(ctx context.Context, l lock.Locker, store *redis.Client) (accepted, lost bool, err error) {
	lease, err := l.Acquire(ctx, "register", lock.TTL(c.TTL))
	if err != nil {
		return false, false, err
	}
	value, err := readRegister.Run(ctx, store, []string{register}, lease.Fence()).Int64()
	if err != nil || value < 0 {
		_ = lease.Release(ctx)
		return false, lease.Context().Err() != nil, err
	}
	if c.Stepwise {
		fmt.Println("read")
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return false, false, err
		}
		select { // timers that expired during the SIGSTOP fire now
		case <-lease.Context().Done():
		case <-time.After(nodeTimeout):
		}
	}
	code, err := writeRegister.Run(ctx, store, []string{register}, lease.Fence(), value+1).Int64()
	lost = lease.Context().Err() != nil
	_ = lease.Release(ctx)
	return code == 1, lost, err
}

// child is a process with a job.
type child struct {
	*process.Process
	t  *testing.T
	in io.WriteCloser
}

func startChild(t *testing.T, c contender) *child {
	t.Helper()
	return startJob(t, childJob{Contender: &c})
}

func startJob(t *testing.T, j childJob) *child {
	t.Helper()
	job, err := json.Marshal(j)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(job))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	p, err := process.Start("child", t.TempDir(), cmd)
	must(t, err)
	t.Cleanup(func() { must(t, p.Kill()) })
	return &child{p, t, in}
}

// await waits for a line.
func (c *child) await(line string) {
	c.t.Helper()
	_, err := c.Await(c.t.Context(), regexp.MustCompile("(?m)^"+line+"$"))
	must(c.t, err)
}

// result waits until the job is done.
func (c *child) result(r any) {
	c.t.Helper()
	line, err := c.Await(c.t.Context(), regexp.MustCompile(`(?m)^\{.*\}\n`))
	must(c.t, err)
	must(c.t, json.Unmarshal([]byte(line[0]), r))
}

func (c *child) contended() (r contenderResult) {
	c.t.Helper()
	c.result(&r)
	return r
}

func (f *realNodes) contender(c contender) contender {
	for _, s := range f.servers {
		c.Nodes = append(c.Nodes, s.Addr())
	}
	return c
}

// TestRealProcessesLoseNoUpdate has two processes contend; one of them is stopped for longer than its TTL, twice.
func TestRealProcessesLoseNoUpdate(t *testing.T) {
	t.Parallel()
	f, store := startNodes(t, 3), startNodes(t, 1)
	const ttl = 5 * nodeTimeout
	job := f.contender(contender{Register: store.servers[0].Addr(), Workers: 3, Rounds: 150, UntilEOF: true, TTL: ttl})
	a, b := startChild(t, job), startChild(t, job)
	value := func() int {
		n, _ := store.admin[0].HGet(t.Context(), register, "value").Int()
		return n
	}
	for _, progress := range []int{50, 200} {
		eventually(t, childTimeout, "progress", func() bool { return value() >= progress })
		must(t, a.Freeze())
		time.Sleep(ttl + ttl/5) // the fault itself
		must(t, a.Thaw())
	}
	must(t, a.in.Close())
	must(t, b.in.Close())
	ra, rb := a.contended(), b.contended()
	if ra.Err != "" || rb.Err != "" {
		t.Errorf("failures: %q, %q", ra.Err, rb.Err)
	}
	if got, want := value(), ra.Accepted+rb.Accepted; got != want {
		t.Errorf("the register says %d after %d accepted increments: %+v %+v", got, want, ra, rb)
	}
	if rb.Rejected+rb.Lost > 0 {
		t.Errorf("the process that was never stopped lost something: %+v", rb)
	}
	if all := 2 * job.Workers * job.Rounds; ra.Accepted+rb.Accepted < all-2*job.Workers {
		t.Errorf("only %d of %d increments: %+v %+v", ra.Accepted+rb.Accepted, all, ra, rb)
	}
	f.wantNoLocks()
}

// TestRealStoppedHolder stops a process between reading and writing for longer than its TTL. Its write comes too late
// and is rejected.
func TestRealStoppedHolder(t *testing.T) {
	t.Parallel()
	f, store := startNodes(t, 3), startNodes(t, 1)
	const ttl = 5 * nodeTimeout
	job := f.contender(contender{Register: store.servers[0].Addr(), Workers: 1, Rounds: 1, TTL: ttl, Stepwise: true})
	stopped := startChild(t, job)
	stopped.await("read")
	must(t, stopped.Freeze())
	job.Stepwise = false
	began := time.Now()
	other := startChild(t, job).contended()
	if other.Accepted != 1 {
		t.Fatalf("the other process: %+v", other)
	}
	wantWithin(t, "taking over from a stopped process", time.Since(began), ttl+settleTime)
	_, err := io.WriteString(stopped.in, "go on\n")
	must(t, err)
	must(t, stopped.Thaw())
	if late := stopped.contended(); late.Rejected != 1 || late.Lost != 1 {
		t.Errorf("the stopped process: %+v, want its write rejected and its lease lost", late)
	}
	if n, _ := store.admin[0].HGet(t.Context(), register, "value").Int(); n != 1 {
		t.Errorf("the register says %d, want 1", n)
	}
	f.wantNoLocks()
}

package scanner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// The data of BenchmarkSweep.
const (
	benchLocks  = 1_000_000
	benchLeaks  = 1_000
	benchOthers = 1_000_000
	benchBatch  = 50_000
)

// BenchmarkSweep compares a sweep with a loop over SCAN that reads nothing, on one server. One such loop runs before
// each measurement; x-bare is the ratio to the fastest. BENCHMARKS.md has a table.
func BenchmarkSweep(b *testing.B) {
	server := locktest.Servers(b, 1)[0]
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ReadTimeout: time.Minute})
	defer c.Close()
	fill(b, c)
	f := &sweepBench{client: c, url: "redis://" + server.Addr()}
	b.Run("bare", f.bare)
	for _, m := range []struct {
		name string
		opts []scanner.Option
	}{
		{"script", nil},
		{"script/ttls-only", []scanner.Option{scanner.WithMaxValues(0)}},
		{"script/all-values", []scanner.Option{scanner.WithMaxValues(scanner.AllValues)}},
		{"pipeline", []scanner.Option{scanner.UsePath(report.PathPipeline)}},
	} {
		b.Run(m.name, func(b *testing.B) { f.sweeps(b, m.opts) })
	}
	b.Run("ttl-per-key", f.ttlPerKey)
	b.Run("default-throttle", f.throttled)
	b.Run("memory", f.memory)
}

type sweepBench struct {
	client  *redis.Client
	url     string
	fastest time.Duration // of the bare loops
}

func fill(b *testing.B, c *redis.Client) {
	b.Helper()
	value := lockscopeValue(token, time.Now())
	for from := 0; from < max(benchLocks, benchOthers); from += benchBatch {
		must(b, c.Eval(b.Context(), `
			for i = ARGV[1] + 1, ARGV[1] + ARGV[2] do
				if i % tonumber(ARGV[3]) == 0 then
					redis.call('SET', 'lock:order:' .. i, ARGV[4])
				else
					redis.call('SET', 'lock:order:' .. i, ARGV[4], 'PX', 1800000 + i)
				end
				redis.call('SET', 'session:' .. i, 'x', 'PX', 7200000)
			end
			return 1`, nil, from, benchBatch, benchLocks/benchLeaks, value).Err())
	}
	if n := c.DBSize(b.Context()).Val(); n != benchLocks+benchOthers {
		b.Fatalf("%d keys", n)
	}
}

// bareLoop is SCAN and nothing else.
func (f *sweepBench) bareLoop(b *testing.B) {
	began := time.Now()
	var cursor uint64
	found := 0
	for {
		keys, next, err := f.client.Scan(b.Context(), cursor, "lock:*", 500).Result()
		must(b, err)
		found += len(keys)
		if cursor = next; cursor == 0 {
			break
		}
	}
	if found != benchLocks {
		b.Fatalf("%d locks", found)
	}
	if took := time.Since(began); f.fastest == 0 || took < f.fastest {
		f.fastest = took
	}
}

func (f *sweepBench) bare(b *testing.B) {
	for b.Loop() {
		f.bareLoop(b)
	}
}

func (f *sweepBench) scanner(b *testing.B, opts ...scanner.Option) *scanner.Scanner {
	b.Helper()
	s, err := scanner.Open([]string{f.url}, opts...)
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	return s
}

func (f *sweepBench) sweep(b *testing.B, s *scanner.Scanner) report.Report {
	b.Helper()
	report, err := s.Sweep(b.Context())
	must(b, err)
	if len(report.Findings) != benchLeaks || report.Nodes[0].Locks != benchLocks {
		b.Fatalf("%d findings, %d locks", len(report.Findings), report.Nodes[0].Locks)
	}
	return report
}

func (f *sweepBench) sweeps(b *testing.B, opts []scanner.Option) {
	s := f.scanner(b, append([]scanner.Option{scanner.WithPause(0), scanner.WithConfirmAfter(0)}, opts...)...)
	var fastest time.Duration
	cpu, took, n := 0.0, time.Duration(0), 0
	for b.Loop() {
		b.StopTimer()
		f.bareLoop(b)
		before := serverCPU(b, f.client)
		b.StartTimer()
		report := f.sweep(b, s)
		b.StopTimer()
		cpu += serverCPU(b, f.client) - before
		took += report.Took
		n++
		if fastest == 0 || report.Took < fastest {
			fastest = report.Took
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(fastest)/float64(f.fastest), "x-bare")
	b.ReportMetric(cpu/float64(n), "server-cpu-s/sweep")
}

func serverCPU(b *testing.B, c *redis.Client) (seconds float64) {
	b.Helper()
	text, err := c.Info(b.Context(), "cpu").Result()
	must(b, err)
	for line := range strings.Lines(text) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			s, err := strconv.ParseFloat(number, 64)
			must(b, err)
			seconds += s
		}
	}
	return seconds
}

// ttlPerKey reads the TTL of one key in a hundred, one after the other.
func (f *sweepBench) ttlPerKey(b *testing.B) {
	const sample = benchLocks / 100
	for b.Loop() {
		began := time.Now()
		for i := 1; i <= sample; i++ {
			must(b, f.client.PTTL(b.Context(), "lock:order:"+strconv.Itoa(i*100)).Err())
		}
		whole := time.Since(began)*100 + f.fastest
		b.ReportMetric(whole.Seconds(), "s/sweep-extrapolated")
		b.ReportMetric(float64(whole)/float64(f.fastest), "x-bare")
	}
}

// throttled is one sweep with all defaults while other clients read.
func (f *sweepBench) throttled(b *testing.B) {
	s := f.scanner(b)
	idle := f.measureGets(b, func() { time.Sleep(10 * time.Second) })
	before := serverCPU(b, f.client)
	began := time.Now()
	f.sweep(b, s)
	alone, took := serverCPU(b, f.client)-before, time.Since(began)
	busy := f.measureGets(b, func() { f.sweep(b, s) })
	b.ReportMetric(took.Seconds(), "s/sweep")
	b.ReportMetric(alone, "server-cpu-s/sweep")
	for i, name := range []string{"loop", "paced"} {
		b.ReportMetric(float64(idle[i].Microseconds()), name+"-idle-p99-us")
		b.ReportMetric(float64(busy[i].Microseconds()), name+"-sweep-p99-us")
		b.ReportMetric(float64(busy[i])/float64(idle[i]), name+"-x-idle")
	}
}

// measureGets returns the p99 of GETs while do runs: first of a client that sends one GET after the other, then, in a
// second run, of a client that sends one every millisecond.
func (f *sweepBench) measureGets(b *testing.B, do func()) [2]time.Duration {
	var p99 [2]time.Duration
	for i, every := range []time.Duration{0, time.Millisecond} {
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan time.Duration)
		go func() { done <- f.getP99(ctx, every) }()
		do()
		cancel()
		p99[i] = <-done
	}
	return p99
}

func (f *sweepBench) getP99(ctx context.Context, every time.Duration) time.Duration {
	c := redis.NewClient(&redis.Options{Addr: f.client.Options().Addr, PoolSize: 1})
	defer c.Close()
	var took []time.Duration
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if c.Get(context.Background(), "session:"+strconv.Itoa(i%benchOthers+1)).Err() == nil {
			took = append(took, time.Since(began))
		}
		if left := every - time.Since(began); left > 0 {
			time.Sleep(left)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// memoryJob is a process that sweeps once and prints its peak memory.
const memoryJob = "memory"

func sweepForMemory() int {
	for _, opts := range [][]scanner.Option{
		{scanner.WithMaxValues(scanner.AllValues)},
		{scanner.UsePath(report.PathPipeline), scanner.WithMaxValues(scanner.AllValues)},
	} {
		s, err := scanner.Open([]string{os.Getenv(urlEnv)},
			append(opts, scanner.WithPause(0), scanner.WithConfirmAfter(0))...)
		if err != nil {
			return 1
		}
		report, err := s.Sweep(context.Background())
		if err != nil || len(report.Findings) != benchLeaks {
			return 1
		}
		_ = s.Close()
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 1
	}
	for line := range strings.Lines(string(status)) {
		if kb, found := strings.CutPrefix(line, "VmHWM:"); found {
			fmt.Println(strings.Fields(kb)[0])
		}
	}
	return 0
}

// memory is the peak of a process that sweeps on both paths and reads all values.
func (f *sweepBench) memory(b *testing.B) {
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+memoryJob, urlEnv+"="+f.url)
	out, err := child.Output()
	must(b, err)
	kb, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	must(b, err)
	b.ReportMetric(kb/1024, "peak-MiB")
}

package scanner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// BenchmarkPace compares how long a pass takes with what a client feels that sends PING meanwhile: one after the other
// (loop), or one every millisecond (paced). Each client has a pass of its own. Use -benchtime=1x.
func BenchmarkPace(b *testing.B) {
	server := locktest.Servers(b, 1)[0]
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ReadTimeout: time.Minute})
	defer c.Close()
	fill(b, c)
	f := &sweepBench{client: c, url: "redis://" + server.Addr()}
	sweeping := func(opts ...scanner.Option) func(*testing.B) {
		return func(b *testing.B) {
			f.sweep(b, f.scanner(b, append([]scanner.Option{scanner.WithConfirmAfter(0)}, opts...)...))
		}
	}
	idle := func(*testing.B) { time.Sleep(10 * time.Second) }
	for _, m := range []struct {
		name string
		pass func(*testing.B)
	}{
		{"idle", idle},
		{"bare", f.bareLoop},
		{"no-limit", sweeping(scanner.WithPause(0))},
		{"adaptive", sweeping()},
		{"flat-10ms", sweeping(scanner.WithPause(scanner.DefaultPause))},
		{"idle-again", idle},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				f.besidePings(b, "loop", 0, m.pass)
				f.besidePings(b, "paced", time.Millisecond, m.pass)
			}
		})
	}
}

func (f *sweepBench) besidePings(b *testing.B, name string, every time.Duration, pass func(*testing.B)) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	done := make(chan []time.Duration)
	go func() { done <- f.pings(ctx, every) }()
	before, began := serverCPU(b, f.client), time.Now()
	pass(b)
	took, cpu := time.Since(began), serverCPU(b, f.client)-before
	cancel()
	pings := <-done
	b.ReportMetric(took.Seconds(), name+"-s")
	b.ReportMetric(cpu, name+"-server-cpu-s")
	b.ReportMetric(float64(pings[len(pings)/2].Microseconds()), name+"-p50-us")
	b.ReportMetric(float64(pings[len(pings)*99/100].Microseconds()), name+"-p99-us")
}

// pings returns the sorted latencies of one client.
func (f *sweepBench) pings(ctx context.Context, every time.Duration) []time.Duration {
	c := redis.NewClient(&redis.Options{Addr: f.client.Options().Addr, PoolSize: 1})
	defer c.Close()
	var took []time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		if c.Ping(context.Background()).Err() == nil {
			took = append(took, time.Since(began))
		}
		if left := every - time.Since(began); left > 0 {
			time.Sleep(left)
		}
	}
	slices.Sort(took)
	return took
}

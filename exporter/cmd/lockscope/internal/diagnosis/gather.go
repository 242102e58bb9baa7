package diagnosis

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/quarantine"
)

// Node is a server to ask.
type Node struct {
	Name    string
	Address string
	Client  *redis.Client
}

const (
	ReachTimeout = 5 * time.Second
	pace         = 20 * time.Millisecond // between rounds of samples
	fewestRounds = 20
)

// Gather asks all nodes at once, for p.For plus a moment. What goes wrong with a
// node, also the end of ctx, is in its facts.
func Gather(ctx context.Context, nodes []Node, p Policy) []Facts {
	facts := make([]Facts, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { facts[i] = ask(ctx, n, p) })
	}
	asking.Wait()
	return facts
}

func ask(ctx context.Context, n Node, p Policy) Facts {
	f := Facts{Node: n.Name, Address: n.Address}
	reach, cancel := context.WithTimeout(ctx, ReachTimeout)
	defer cancel()
	text, err := n.Client.Info(reach).Result()
	if err != nil {
		f.Err = fmt.Errorf("INFO: %w", explained(reach, n.Address, err))
		return f
	}
	f.Server = ParseInfo(text)
	f.Hosts = resolve(reach, n.Address)
	if config, err := n.Client.ConfigGet(reach, "appendfsync").Result(); err == nil {
		f.Fsync = config["appendfsync"]
	}
	if p.Single != "cluster" { // whose keys are elsewhere, and whose nodes nobody vouches for
		f.Marker, f.Unread = quarantine.ReadMarker(reach, n.Client, f.Server.Incarnation)
	}
	f.observe(ctx, n.Client, p.For)
	writes, cancelWrites := context.WithTimeout(ctx, ReachTimeout)
	defer cancelWrites()
	f.Refuses = writeRefusal(writes, n.Client, p, text)
	rights, cancelRights := context.WithTimeout(ctx, ReachTimeout)
	defer cancelRights()
	f.Missing, f.Unasked = missingRights(rights, n.Client, p)
	return f
}

// resolve finds the IP addresses behind host:port; the host itself if there are none.
func resolve(ctx context.Context, address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return []string{host}
	}
	slices.Sort(found)
	return found
}

// observe samples clock and latency until the time is up and there are enough.
func (f *Facts) observe(ctx context.Context, c *redis.Client, during time.Duration) {
	began := time.Now()
	var clock []Sample
	var pings, scripts []time.Duration
	for round := 0; ctx.Err() == nil && (time.Since(began) < during || round < fewestRounds); round++ {
		sent := time.Since(began)
		if at, err := c.Time(ctx).Result(); err == nil {
			clock = append(clock, Sample{at.Sub(began.Round(0)), sent, time.Since(began)})
		}
		ponged := f.Ping.time(&pings, func() error { return c.Ping(ctx).Err() })
		ran := f.Script.time(&scripts, func() error { return c.Eval(ctx, "return 1", nil).Err() })
		if !ponged && !ran {
			break // each further round would take as long to fail
		}
		pause(ctx, pace)
	}
	f.Clock = Measure(clock)
	f.Ping.fill(pings)
	f.Script.fill(scripts)
}

// time adds how long call took, if it succeeded.
func (l *Latency) time(took *[]time.Duration, call func() error) bool {
	began := time.Now()
	if err := call(); err != nil {
		l.Err = err
		return false
	}
	*took = append(*took, time.Since(began))
	return true
}

func (l *Latency) fill(took []time.Duration) {
	slices.Sort(took)
	l.Count = len(took)
	l.P50, l.P99 = quantile(took, 0.50), quantile(took, 0.99)
}

// quantile of a sorted slice; zero of an empty one.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

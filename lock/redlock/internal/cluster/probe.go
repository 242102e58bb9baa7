package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// server answers the guard's questions about a Redis Cluster.
type server struct {
	scripts.Server
	client *redis.ClusterClient
}

// Info returns the INFO of the first master that may not vote, else of any master: one that evicts is enough to
// lose a lock. It fails if a master does, unless another master is unfit.
func (s server) Info(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var unfit, fit string
	err := s.client.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		text, err := master.Info(ctx).Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if guard.Fit(text) != nil {
			unfit = text
		} else {
			fit = text
		}
		return nil
	})
	if unfit != "" {
		return unfit, nil
	}
	return fit, err
}

// probes runs the probes of all masters beside the votes, so that no vote waits for the slowest master.
type probes struct {
	ctx     context.Context
	cancel  context.CancelFunc
	timeout time.Duration

	mu      sync.Mutex // held to begin a probe, so that none begins after the end
	running sync.WaitGroup
}

func newProbes(timeout time.Duration) *probes {
	ctx, cancel := context.WithCancel(context.Background())
	return &probes{ctx: ctx, cancel: cancel, timeout: timeout}
}

// begin starts a probe if one is due.
func (l *probes) begin(g *guard.Guard, s server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil || !g.ProbeDue() {
		return
	}
	l.running.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
		defer cancel()
		g.Probed(s.Info(ctx))
	})
}

func (l *probes) close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock()
	l.running.Wait()
}

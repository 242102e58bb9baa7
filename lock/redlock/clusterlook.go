package redlock

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// clusterServer is what the guard asks a Redis Cluster.
type clusterServer struct {
	server
	client *redis.ClusterClient
}

// Info is that of the first master that may not vote, else of any that answers: one that
// evicts is enough to lose a lock. It fails if a master does, unless another one is unfit.
func (s clusterServer) Info(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var unfit, fit string
	err := s.client.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		text, err := server{process: master}.Info(ctx)
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

// clusterLooks are the looks at all masters that go on beside the votes: no vote waits
// for the slowest of them.
type clusterLooks struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	timeout time.Duration
}

func (l *clusterLooks) init(timeout time.Duration) {
	l.timeout = timeout
	l.ctx, l.cancel = context.WithCancel(context.Background())
}

// begin looks if it is time to.
func (l *clusterLooks) begin(g *guard.Guard, s clusterServer) {
	if l.ctx.Err() != nil || !g.Look() {
		return
	}
	l.running.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
		defer cancel()
		g.Looked(s.Info(ctx))
	})
}

func (l *clusterLooks) close() {
	l.cancel()
	l.running.Wait()
}

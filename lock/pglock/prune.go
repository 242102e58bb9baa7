package pglock

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// pruneEvery is the mean time between two runs of one process.
	pruneEvery = 10 * time.Minute
	// pruneMost is how many rows one statement deletes at most, so that none takes long.
	pruneMost    = 1000
	pruneTimeout = 5 * time.Second
)

// pruner deletes the rows of unused locks; see [PruneAfter].
type pruner struct {
	node *node
	end  context.CancelFunc
	done sync.WaitGroup
}

func startPruner(n *node) *pruner {
	life, end := context.WithCancel(context.Background())
	p := &pruner{node: n, end: end}
	p.done.Go(func() { p.loop(life) })
	return p
}

func (p *pruner) loop(life context.Context) {
	for {
		timer := time.NewTimer(pruneEvery/2 + rand.N(pruneEvery))
		select {
		case <-life.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		for p.prune(life) == pruneMost && life.Err() == nil {
		}
	}
}

// prune returns how many rows it deleted. After an error the next run tries again.
func (p *pruner) prune(life context.Context) (n int) {
	ctx, cancel := context.WithTimeout(life, pruneTimeout)
	defer cancel()
	_ = p.node.ask(ctx, p.node.calls.prune, []any{PruneAfter, pruneMost}, &n)
	return n
}

func (p *pruner) stop() {
	p.end()
	p.done.Wait()
}

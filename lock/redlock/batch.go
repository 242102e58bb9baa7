package redlock

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

const (
	// batchAbove is how many commands may be under way on a node before further
	// ones share pipelines: below, a pipeline costs latency; above, connections
	// and system calls cost throughput.
	batchAbove = 6
	// maxBatch bounds one pipeline, and so what one answer that does not come takes
	// down with it.
	maxBatch = 128
)

// batcher sends commands one by one on a quiet node and in pipelines on a busy
// one. Either way each gets its own reply or error, and none is sent twice.
type batcher struct {
	*redis.Client
	underWay atomic.Int32

	once sync.Once
	auto *redis.AutoPipeliner // nil if it could not be made
}

func (b *batcher) Process(ctx context.Context, cmd redis.Cmder) error {
	defer b.underWay.Add(-1)
	if b.underWay.Add(1) <= batchAbove {
		return b.Client.Process(ctx, cmd)
	}
	b.once.Do(func() {
		b.auto, _ = b.AutoPipelineWithOptions(&redis.AutoPipelineOptions{MaxBatchSize: maxBatch, MaxConcurrentBatches: 1})
	})
	if b.auto == nil {
		return b.Client.Process(ctx, cmd)
	}
	return b.auto.Process(ctx, cmd)
}

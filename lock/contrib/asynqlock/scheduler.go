package asynqlock

import (
	"context"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

// RunScheduler campaigns for the leadership of name until ctx ends, and then returns why; see election.Run. While it
// leads, it runs the scheduler that start returns. start is called for each term, because a scheduler of asynq cannot
// start twice. Its error ends RunScheduler.
//
// When a leader crashes, nobody schedules for up to the TTL, and what is due then is not enqueued. When the leadership
// passes to a process whose clock is behind, that process may enqueue a task again. Give such tasks an asynq.TaskID, or
// asynq.Unique.
func RunScheduler(ctx context.Context, locker lock.Locker, name string, start func() (*asynq.Scheduler, error),
	opts ...election.Option,
) error {
	return election.Run(ctx, locker, name, func(ctx context.Context, _ election.Term) error {
		scheduler, err := start()
		if err != nil {
			return err
		}
		if err := scheduler.Start(); err != nil {
			return err
		}
		<-ctx.Done()
		scheduler.Shutdown()
		return context.Cause(ctx)
	}, opts...)
}

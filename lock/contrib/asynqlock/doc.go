// Package asynqlock makes servers of github.com/hibiken/asynq in several processes handle one task for a key at a time,
// and enqueue periodic tasks once.
//
//	mux := asynq.NewServeMux()
//	mux.Use(asynqlock.Middleware(locker, asynqlock.Key, nil, lock.MaxHold(time.Hour)))
//	server := asynq.NewServer(redis, asynq.Config{IsFailure: asynqlock.IsFailure})
//
// [Middleware] locks each task while it is handled, and [RunScheduler] has one process of the fleet schedule.
//
// # What asynq does not do
//
// When the context of a task ends, asynq gives the task to the next worker at once, and does not wait for the handler.
// That is so at a timeout, when the task is cancelled, and when the server has waited long enough for its shutdown. A
// lock that hangs on this context is another worker's while the first still writes. The locks of this package end when
// the handler returns.
//
// asynq.Unique keeps duplicates out of the queue for a fixed time. It does not keep two tasks from running at the same
// time: one that runs longer, or whose worker died, runs beside its duplicate.
//
// A task that was handled may be handled again: asynq delivers at least once. No lock prevents that. Nor does asynq
// check a fencing token. Pass the lease's to the storage that the handler writes to.
package asynqlock

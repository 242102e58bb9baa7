package asynqlock_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock/contrib/asynqlock"
)

// scheduler enqueues a task each second, and says so.
func (f *fleet) scheduler(enqueued chan<- struct{}) func() (*asynq.Scheduler, error) {
	return func() (*asynq.Scheduler, error) {
		s := asynq.NewScheduler(f.redis, &asynq.SchedulerOpts{
			LogLevel: asynq.FatalLevel, PreEnqueueFunc: func(*asynq.Task, []asynq.Option) { enqueued <- struct{}{} },
		})
		_, err := s.Register("@every 1s", asynq.NewTask("report", nil))
		return s, err
	}
}

// TestRunScheduler: one process enqueues, and the next one when it resigns.
func TestRunScheduler(t *testing.T) {
	f := newFleet(t)
	first, second := make(chan struct{}, 100), make(chan struct{}, 100)
	resigned := errors.New("resigned")
	ctx, resign := context.WithCancelCause(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- asynqlock.RunScheduler(ctx, process(t, f.nodes), "scheduler", f.scheduler(first)) }()
	<-first
	later, stop := context.WithCancel(t.Context())
	go func() { ended <- asynqlock.RunScheduler(later, process(t, f.nodes), "scheduler", f.scheduler(second)) }()
	<-first
	<-first
	if len(second) > 0 {
		t.Error("two enqueue")
	}
	resign(resigned)
	if err := <-ended; !errors.Is(err, resigned) {
		t.Errorf("the first ended with %v", err)
	}
	for len(first) > 0 {
		<-first
	}
	<-second
	if len(first) > 0 {
		t.Error("it enqueues after it has resigned")
	}
	stop()
	<-ended
	failed := errors.New("failed")
	if err := asynqlock.RunScheduler(t.Context(), process(t, f.nodes), "scheduler",
		func() (*asynq.Scheduler, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("start fails: %v", err)
	}
}

// TestSchedulersAlone is the control of TestRunScheduler: without an election two processes enqueue.
func TestSchedulersAlone(t *testing.T) {
	f := newFleet(t)
	for range 2 {
		enqueued := make(chan struct{}, 100)
		s, err := f.scheduler(enqueued)()
		must(t, err)
		must(t, s.Start())
		defer s.Shutdown()
		<-enqueued
	}
}

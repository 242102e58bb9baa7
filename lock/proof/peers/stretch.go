package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errOver is what a turn returns when the stretch ended before it got anywhere.
var errOver = errors.New("the stretch is over")

// caller is one goroutine of a stretch. Both contexts can be cancelled and are its own,
// as those of requests are.
type caller struct {
	index   int
	ctx     context.Context // goes on until the caller is done: to finish what was begun
	waiting context.Context // ends with the stretch: to wait for what somebody else has
}

// failures are counted, and the first of them is kept.
type failures struct {
	count int
	first error
}

func (f *failures) add(err error) {
	if f.first == nil {
		f.first = err
	}
	f.count++
}

func (f *failures) merge(other failures) {
	if f.first == nil {
		f.first = other.first
	}
	f.count += other.count
}

// stretch has that many callers take turns, one after another each, for d, and returns
// how many turns were completed within it, and how many failed. It returns when all
// callers have, also when ctx ends.
func stretch(ctx context.Context, callers int, d time.Duration, turn func(caller) error) (turns int, failed failures) {
	waiting, stop := context.WithCancel(ctx) // not a deadline: some libraries plan by one
	defer stop()
	defer time.AfterFunc(d, stop).Stop()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			own, fails := takeTurns(ctx, waiting, i, turn)
			mu.Lock()
			defer mu.Unlock()
			turns += own
			failed.merge(fails)
		})
	}
	all.Wait()
	return turns, failed
}

// takeTurns is one caller's part of a stretch, which is over when waiting ends.
func takeTurns(ctx, over context.Context, index int, turn func(caller) error) (turns int, failed failures) {
	own, done := context.WithCancel(ctx)
	defer done()
	waiting, stop := context.WithCancel(over)
	defer stop()
	for over.Err() == nil {
		err := turn(caller{index, own, waiting})
		switch {
		case errors.Is(err, errOver):
			return turns, failed
		case err != nil:
			failed.add(err)
		case over.Err() == nil:
			turns++
		}
	}
	return turns, failed
}

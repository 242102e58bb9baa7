package claimlist

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Background runs what outlives the call that began it.
type Background struct {
	Life context.Context // until End
	end  context.CancelFunc
	mu   sync.Mutex
	work sync.WaitGroup
}

// NewBackground returns a Background that has not ended.
func NewBackground() *Background {
	life, end := context.WithCancel(context.Background())
	return &Background{Life: life, end: end}
}

// Run starts a function that Wait waits for. It returns false after End.
func (b *Background) Run(do func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Life.Err() != nil {
		return false
	}
	b.work.Go(do)
	return true
}

// Pause returns false if End was called meanwhile.
func (b *Background) Pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-b.Life.Done():
		return false
	}
}

// End ends Life.
func (b *Background) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}

// Wait returns when all that Run has started has returned. Call End first.
func (b *Background) Wait() { b.work.Wait() }

// parallel bounds how many requests Parallel has under way.
const parallel = 8

// Parallel calls do for 0 to n-1, several at a time, and returns the first error in this order.
func Parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	free := make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			errs[i] = do(i)
			<-free
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

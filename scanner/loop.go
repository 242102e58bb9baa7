package scanner

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// loop is the goroutine of Start.
type loop struct {
	mu      sync.Mutex
	started bool
	stop    context.CancelFunc
	done    chan struct{}
}

// Start sweeps in the background until Stop or Close: first within a tenth of the
// interval, then an interval after each sweep, give or take 10 %, so that many
// processes started together do not sweep together. A further call, also after
// Stop, fails with [ErrStarted], or with [ErrClosed] after Close.
//
// With [WithLocker], each interval begins with one attempt to take the lock, if it
// is not held already. A process that does not get it does nothing until the next
// one, and reports Standby in its Snapshot. Whoever has it keeps it until Stop;
// when it dies, another one takes over once the lock has expired and its own next
// interval begins. A sweep whose lock is lost is cut short.
//
// Errors of the sweeps go to the logger and the Snapshot.
func (s *Scanner) Start() error {
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	if s.life.Err() != nil {
		return ErrClosed
	}
	if s.loop.started {
		return ErrStarted
	}
	ctx, cancel := context.WithCancel(s.life)
	s.loop.started, s.loop.stop = true, cancel
	go func() {
		defer close(s.loop.done)
		defer cancel()
		s.sweepAgainAndAgain(ctx)
	}()
	return nil
}

// Stop ends the loop, and a sweep of it under way, gives the lock of [WithLocker]
// back and returns when all that is done. Sweep can be called afterwards. Without
// a Start, and a second time, there is nothing to do.
func (s *Scanner) Stop() {
	s.loop.mu.Lock()
	started, stop := s.loop.started, s.loop.stop
	s.loop.mu.Unlock()
	if started {
		stop()
		<-s.loop.done
	}
}

func (s *Scanner) sweepAgainAndAgain(ctx context.Context) {
	l := newLeader(&s.cfg)
	defer l.release(ctx)
	wait := rand.N(s.cfg.interval/10 + 1)
	for pause(ctx, wait) {
		s.sweepIfLeader(ctx, &l)
		wait = jittered(s.cfg.interval)
	}
}

func jittered(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

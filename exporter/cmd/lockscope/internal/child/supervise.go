package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Lease is what a command runs under: a lock.Lease, a permit or a term.
type Lease interface {
	Context() context.Context
	Remaining() time.Duration
}

// Result is how a command ended.
type Result struct {
	Status int           // 0 to 255; 128 and the signal's number if a signal ended it
	Lost   bool          // it was asked to end, or killed, because the lease was about to end
	Ran    time.Duration // until no process of its group was left
}

// supervisor is one Supervise.
type supervisor struct {
	Limits
	lease   Lease
	process *process
	signals *Signals
	console *console
	dog     *watchdog // nil if it could not be started

	dogKilled bool // and the watchdog said so
	say       func(string)

	result   Result
	until    time.Duration // when the lease ends, by the watchdog's clock
	killBy   time.Duration // by the same clock; 0: not asked to end yet
	killed   time.Duration // when it was killed; 0: not yet
	exited   <-chan struct{}
	lost     <-chan struct{}
	maxHold  <-chan time.Time
	leftOver <-chan time.Time
	timer    *time.Timer
}

// Supervise runs a command until no process of its group is left. It passes signals on to all of them.
//
//   - A lease that is not renewed, or is lost: SIGTERM when [Limits.Warning] is left, or at once, and SIGKILL when
//     [Limits.Margin] is left.
//   - The command ran for MaxHold: SIGTERM, and SIGKILL after KillAfter. The lease is renewed meanwhile.
//   - The command has ended, and processes that it started have not: the same, after a second.
//
// A watchdog kills the group if this process is stopped or killed. Lines for say are without a newline. Supervise fails
// with an *ui.StatusError if the command cannot be started, and with a *SignalError if a signal came before that. The
// lease stays the caller's.
func Supervise(lease Lease, c Command, l Limits, signals *Signals, say func(string)) (Result, error) {
	signals.forget()
	if cause := context.Cause(signals.Context()); cause != nil {
		return Result{}, cause
	}
	s := &supervisor{
		Limits: l, lease: lease, signals: signals, say: say, lost: lease.Context().Done(), timer: time.NewTimer(0),
	}
	if err := s.start(c); err != nil {
		return Result{}, err
	}
	defer s.console.close()
	if l.MaxHold > 0 {
		s.maxHold = time.After(l.MaxHold)
	}
	began := time.Now()
	s.loop()
	s.result.Status, s.result.Ran = s.process.status, time.Since(began)
	return s.result, nil
}

// start starts the watchdog, and then the command: a command must not run unguarded. Without a watchdog it does: only
// the death of this process is not covered then.
func (s *supervisor) start(c Command) (err error) {
	errOut, _ := c.Err.(*os.File)
	if s.dog, err = startWatchdog(errOut); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.say(fmt.Sprintf("no watchdog: %v: if lockscope is killed, the command may outlive its lock", err))
	}
	s.until = bootTime() + s.lease.Remaining()
	if s.dog != nil {
		_ = s.dog.Starting(s.until - s.Margin()/2) // if it has ended, guard says so
	}
	if s.process, err = start(c); err != nil {
		s.unguard()
		return err
	}
	s.guard()
	s.exited, s.console = s.process.exited, openConsole(c)
	if s.console.wanted() {
		s.console.give(s.process.group)
		s.process.signal(continued) // it may have been stopped for using the terminal before
	}
	return nil
}

func (s *supervisor) loop() {
	defer s.leave()
	for {
		select {
		case <-s.process.gone:
			return
		case <-s.exited:
			s.exited, s.leftOver = nil, time.After(leftOver)
			s.takeTerminal()
		case <-s.leftOver:
			s.leftOver = nil
			s.end("the command left processes behind: ending them before the lock is released", s.KillAfter)
		case sig := <-s.signals.passed:
			s.pass(sig)
		case sig := <-s.process.stops:
			s.stopped(sig)
		case <-s.lost:
			s.lost = nil
			s.lose(fmt.Sprintf("the lock is lost: %v", context.Cause(s.lease.Context())))
		case <-s.maxHold:
			s.end(fmt.Sprintf("the command ran for %v, which is --max-hold: ending it", s.MaxHold), s.KillAfter)
		case <-s.timer.C:
			if s.console.stoppedUnseen(s.process.group) {
				s.stopped(terminalStop)
			}
		}
		if s.look() {
			return
		}
	}
}

// leave ends what Supervise has started.
func (s *supervisor) leave() {
	s.timer.Stop()
	s.takeTerminal()
	s.process.abandon()
	s.unguard()
}

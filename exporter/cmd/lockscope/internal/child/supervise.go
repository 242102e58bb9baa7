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
	s.console = openConsole(c)
	given := s.console.wanted()
	if s.process, err = start(c, s.console); err != nil {
		if given {
			s.console.take() // from a program that could not be run
		}
		s.console.close()
		s.unguard()
		return err
	}
	s.guard()
	s.exited = s.process.exited
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

// look acts on what time it is, and sets the timer. over says that nothing is left to be waited for.
func (s *supervisor) look() (over bool) {
	now := bootTime()
	if left := s.lease.Remaining(); left > 0 { // after a loss it says nothing of the validity that was granted
		s.until = now + left
	}
	left := s.until - now
	s.guard()
	switch {
	case s.killed > 0:
		if s.exited == nil && now-s.killed > afterKill {
			return true
		}
	case left <= s.Margin():
		s.result.Lost = true
		s.killNow(fmt.Sprintf("killed the command: its lock ends in %v", max(left, 0).Round(time.Millisecond)))
	case s.killBy > 0 && now >= s.killBy:
		s.killNow(fmt.Sprintf("killed the command: it did not end within %v", s.KillAfter))
	case left <= s.Warning():
		s.lose(fmt.Sprintf("the lock is not renewed, and ends in %v", left.Round(time.Millisecond)))
	}
	s.timer.Reset(s.untilDue(now, left))
	return false
}

// untilDue is when to look again.
func (s *supervisor) untilDue(now, left time.Duration) time.Duration {
	due := min(glance, max(left-s.Margin(), 0))
	if left > s.Warning() {
		due = min(due, left-s.Warning())
	}
	if s.killBy > 0 {
		due = min(due, max(s.killBy-now, 0))
	}
	if s.killed > 0 {
		return glance
	}
	return max(due, time.Millisecond)
}

// guard moves the time at which the watchdog kills. It is the later one: this process says why.
func (s *supervisor) guard() {
	if s.dog == nil {
		return
	}
	due := s.until - s.Margin()/2
	if err := s.dog.Guard(s.process.group, due); err != nil {
		if s.dogKilled = bootTime() >= due; !s.dogKilled {
			s.say("the watchdog has ended: if lockscope is killed, the command may outlive its lock")
		}
		s.unguard()
	}
}

// unguard ends the watchdog.
func (s *supervisor) unguard() {
	if s.dog != nil {
		s.dog.Done()
		s.dog = nil
	}
}

// end asks the command to end, once, and has it killed after a while.
func (s *supervisor) end(why string, killAfter time.Duration) {
	if s.killBy > 0 {
		return
	}
	s.killBy = bootTime() + killAfter
	s.guard() // if the watchdog has killed the command, it said why
	if s.process.terminate() && !s.dogKilled {
		s.say(why)
	}
}

// lose ends the command because of its lease.
func (s *supervisor) lose(why string) {
	s.result.Lost = true
	s.end(why+": ending the command", s.KillAfter)
}

func (s *supervisor) killNow(why string) {
	s.killed = bootTime()
	if s.process.kill() && !s.dogKilled {
		s.say(why)
	}
	s.unguard() // it would kill once more
}

// pass has the command get a signal that was for lockscope. When Ctrl-Z has stopped it, stopped does the rest.
func (s *supervisor) pass(sig os.Signal) {
	switch {
	case isContinue(sig):
		s.resume()
	default:
		s.process.signal(sig)
		if Ends(sig) {
			s.process.signal(continued)
		}
		if Ends(sig) && s.KillAfterSignal && s.killBy == 0 {
			s.killBy = bootTime() + s.KillAfter
		}
	}
}

// stopped has the shell notice that the terminal stopped the command. It gives the command the terminal if that
// is what the command waits for.
func (s *supervisor) stopped(sig os.Signal) {
	switch {
	case s.console == nil || !isOfTerminal(sig):
	case wantsTerminal(sig) && s.console.ours():
		s.console.eager = true
		s.resume()
	default:
		s.takeTerminal()
		if s.console.suspend() || !wantsTerminal(sig) {
			s.resume()
		}
	}
}

// resume continues the command if its lease allows that. A command that is stopped and killed does not run any more.
func (s *supervisor) resume() {
	if s.look(); s.killed > 0 {
		return
	}
	if s.console.wanted() {
		s.console.give(s.process.group)
	}
	s.process.signal(continued)
}

// takeTerminal takes the terminal from the command, if the command has it.
func (s *supervisor) takeTerminal() {
	if s.console.has(s.process.group) {
		s.console.take()
	}
}

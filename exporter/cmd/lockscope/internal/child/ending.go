package child

import (
	"fmt"
	"os"
	"time"
)

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
		return s.exited == nil && now-s.killed > afterKill
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

package process

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// freezePoll is how often to look whether a process has come to a halt, which takes it
// less than a millisecond if it is let run.
const freezePoll = time.Millisecond

// Freeze stops the program and returns when all its threads have stopped. The program
// then exists and does nothing until Thaw. Freeze fails with ErrExited if the program has
// ended, with errors.ErrUnsupported on systems without such signals, and after a minute
// if another process keeps thawing it.
func (p *Process) Freeze() error {
	if err := p.sent(freeze(p.cmd.Process)); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		frozen, err := isFrozen(p.PID())
		if frozen {
			return nil
		}
		select {
		case <-p.done:
			return p.Err()
		case <-timer.C:
			return errors.Join(fmt.Errorf("%s did not stop within %v of SIGSTOP", p.name, patience), err)
		case <-time.After(freezePoll):
		}
	}
}

// Thaw lets a frozen program go on. On one that is not frozen it does nothing. It fails
// as Freeze does.
func (p *Process) Thaw() error { return p.sent(thaw(p.cmd.Process)) }

// Freeze stops a process of any parent, and does not wait until it has come to a halt.
// It fails with os.ErrProcessDone if there is no such process.
func Freeze(pid int) error { return toAny(pid, freeze) }

// Thaw lets a process of any parent go on. It fails as Freeze does.
func Thaw(pid int) error { return toAny(pid, thaw) }

func toAny(pid int, send func(*os.Process) error) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	return send(p)
}

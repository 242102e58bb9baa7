//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	continued    = syscall.SIGCONT // lets a stopped process go on
	terminalStop = syscall.SIGTSTP // is what Ctrl-Z sends
)

// console is the terminal that controls this process. A nil *console is none.
type console struct {
	tty   *os.File
	eager bool // the command reads it: give it whenever this process has it
}

// openConsole opens the terminal of this process, if it has one. A command whose output is piped gets the terminal only
// when it asks for it: a pager at the other end of the pipe reads its keys there.
func openConsole(c Command) *console {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return &console{tty: tty, eager: isTerminal(c.In) && isTerminal(c.Out)}
}

func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (c *console) close() {
	if c != nil {
		_ = c.tty.Close()
	}
}

// has reports that a group is in the foreground.
func (c *console) has(group int) bool {
	if c == nil {
		return false
	}
	now, err := unix.IoctlGetInt(int(c.tty.Fd()), unix.TIOCGPGRP)
	return err == nil && now == group
}

// ours reports that this process is in the foreground.
func (c *console) ours() bool { return c.has(syscall.Getpgrp()) }

// wanted reports that the command should have the terminal, and can.
func (c *console) wanted() bool { return c.ours() && c.eager }

// give puts a group into the foreground.
func (c *console) give(group int) {
	// A process of the background is stopped by SIGTTOU for doing this, unless it ignores that.
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(c.tty.Fd()), unix.TIOCSPGRP, group) // if it fails, the command goes on without
}

// take puts this process back into the foreground.
func (c *console) take() { c.give(syscall.Getpgrp()) }

// stoppedUnseen reports that the terminal stopped a part of a group in the foreground, and that its parent does not
// learn that.
func (c *console) stoppedUnseen(group int) bool { return c.has(group) && stopsUnseen(group) }

// suspend stops this process and the others of its pipeline, as Ctrl-Z does, until a shell continues them. If no shell
// can, it returns false at once.
func (c *console) suspend() bool {
	if c == nil || !underShell() {
		return false
	}
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, continued)
	defer signal.Stop(resumed)
	if syscall.Kill(0, syscall.SIGSTOP) != nil {
		return false
	}
	<-resumed
	return true
}

// underShell reports that a process of this session, such as a shell with job control, can continue this process group.
func underShell() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		group, err := syscall.Getpgid(pid)
		if other, failed := unix.Getsid(pid); err != nil || failed != nil || other != session {
			return false
		}
		if group != syscall.Getpgrp() {
			return true
		}
	}
	return false
}

func isContinue(sig os.Signal) bool { return sig == syscall.SIGCONT }

// isOfTerminal reports that a terminal stops processes with this signal.
func isOfTerminal(sig os.Signal) bool { return sig == syscall.SIGTSTP || wantsTerminal(sig) }

// wantsTerminal reports that a process of the background was stopped because it used the terminal.
func wantsTerminal(sig os.Signal) bool { return sig == syscall.SIGTTIN || sig == syscall.SIGTTOU }

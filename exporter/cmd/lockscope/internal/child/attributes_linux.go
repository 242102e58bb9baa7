package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes have the kernel kill the command when the thread that started it ends, as it does when this process is
// killed. The watchdog kills what the command has started.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Adopt makes this process the parent of processes below it whose own parent ends, so that it can tell when all of a
// group have ended: the first process of a container may not wait for them. Those of other groups remain zombies until
// this process ends, so it is for programs that run one command.
func Adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // since Linux 3.4

package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes have the kernel kill the command when the thread that started it ends, as it does when this process is
// killed. The watchdog kills what the command has started.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Adopt makes this process the parent of processes below it whose own parent ends, so that it can tell when all of a
// group have ended: the first process of a container may not wait for them. Those of other groups remain zombies until
// this process ends, so it is for programs that run one command.
func Adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // since Linux 3.4

// bootTime is the time since some fixed point. All processes of a machine share it, and it counts while the machine is
// suspended.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic(err) // every Linux that Go runs on has this clock
	}
	return time.Duration(now.Nano())
}

// stat is what the kernel says of a process, or of a thread.
type stat struct {
	State         string // one letter, see proc(5)
	Parent, Group int
}

// statOf reads a stat file below /proc. It is zero if there is none any more.
func statOf(file string) (s stat) {
	text, err := os.ReadFile(file)
	if err != nil {
		return stat{}
	}
	name := bytes.LastIndexByte(text, ')') // in parentheses; it may hold anything
	_, _ = fmt.Sscan(string(text[name+1:]), &s.State, &s.Parent, &s.Group)
	return s
}

func processStat(pid string) stat {
	return statOf(filepath.Join("/proc", pid, "stat"))
}

// parentOf is the parent of a process; 0 if there is none.
func parentOf(pid int) int { return processStat(fmt.Sprint(pid)).Parent }

// groupStartedBy is the process group that a child of lockscope leads, other than this process; 0 if there is none.
func groupStartedBy(lockscope int) (group int) {
	all, err := filepath.Glob("/proc/[1-9]*/stat")
	if err != nil {
		return 0
	}
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if s := statOf(name); s.Parent == lockscope && s.Group == pid {
			return pid
		}
	}
	return 0
}

// The states of proc(5) that matter here.
const (
	uninterruptible = "D"
	stoppedState    = "T"
)

// stopsUnseen reports that the leader of a group waits in vfork(2) for a child that is stopped. The leader stops only
// when the child has become another program, so nobody learns of the stop, and nobody continues the child.
func stopsUnseen(leader int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", leader))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		if statOf(filepath.Join(thread, "stat")).State != uninterruptible {
			continue
		}
		children, err := os.ReadFile(filepath.Join(thread, "children"))
		if err != nil {
			continue // it has ended, or the kernel was built without this file
		}
		for child := range strings.FieldsSeq(string(children)) {
			if s := processStat(child); s.State == stoppedState && s.Group == leader {
				return true
			}
		}
	}
	return false
}

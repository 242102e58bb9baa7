//go:build unix

package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// watchdog is a watchdog, as the process that started it sees it. Its methods are not to be called concurrently.
type watchdog struct {
	cmd    *exec.Cmd
	orders *os.File
}

// startWatchdog starts this program once more, as a watchdog that guards nothing yet. It writes to errOut when it had to kill
// what it guards; nil discards that. The caller ends it with Done.
func startWatchdog(errOut *os.File) (*watchdog, error) {
	path := "/proc/self/exe" // also if the file was replaced since
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(path, watchdogName)
	if errOut != nil {
		cmd.Stderr = errOut
	}
	cmd.Dir = "/"
	// A session of its own: a terminal's signals do not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	cmd.Stdin = in
	if err := cmd.Start(); err != nil {
		_ = orders.Close()
		return nil, err
	}
	return &watchdog{cmd: cmd, orders: orders}, nil
}

// Guard has the watchdog kill the process group when bootTime reaches until, or when this process ends
// without having called Done. The last call counts. An error means that the watchdog was killed, or is stopped.
func (d *watchdog) Guard(group int, until time.Duration) error {
	return d.order(fmt.Sprintf("%d %d\n", group, until))
}

// startingWord begins an order about a command that has no group yet.
const startingWord = "starting "

// Starting has it kill at that time the command that lockscope starts from now on, unless Guard comes before: lockscope
// may be stopped when the command runs and before it can say which group that is. Only on Linux.
func (d *watchdog) Starting(until time.Duration) error {
	return d.order(fmt.Sprintf("%s%d\n", startingWord, until))
}

// order writes a line at once or not at all: a pipe that is full is that of a watchdog which is stopped. A deadline
// instead would pass while this process has no processor, and a watchdog that runs would be given up.
func (d *watchdog) order(line string) error {
	pipe, err := d.orders.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = pipe.Write(func(fd uintptr) (done bool) {
		for {
			if _, failed = syscall.Write(int(fd), []byte(line)); failed != syscall.EINTR {
				return true
			}
		}
	})
	return errors.Join(err, failed)
}

// Done ends the watchdog, and leaves alone what it guarded. The watchdog is killed: it may be stopped.
func (d *watchdog) Done() {
	_ = d.cmd.Process.Kill() // it may have ended by itself
	_ = d.cmd.Wait()
	_ = d.orders.Close()
}

// order is what to guard. A group of 0 is the command that is being started; without a time there is nothing to guard.
type order struct {
	group int
	until time.Duration
}

// WatchdogMain is the process of a watchdog. It reads its orders from in, and returns the exit status.
func WatchdogMain(in io.Reader, errOut io.Writer) int { return watch(in, errOut, os.Getppid()) }

// watch is Main for the lockscope with this process ID.
func watch(in io.Reader, errOut io.Writer, lockscope int) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE, syscall.SIGTSTP)
	orders := make(chan order)
	go read(in, orders)
	var now order
	timer := time.NewTimer(glance)
	for {
		select {
		case next, open := <-orders:
			if !open {
				return now.kill(errOut, "lockscope was killed") // the kernel kills a command that was being started
			}
			now = next
		case <-timer.C:
		}
		left := glance
		if now.until != 0 {
			if left = now.until - bootTime(); left <= 0 {
				if now.group == 0 {
					now.group = groupStartedBy(lockscope)
				}
				return now.kill(errOut, "lockscope did not run when the lock was about to end")
			}
		}
		timer.Reset(min(left, glance))
	}
}

// read closes orders when the other end of the pipe is closed.
func read(in io.Reader, orders chan<- order) {
	defer close(orders)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if o, ok := parse(lines.Text()); ok {
			orders <- o
		}
	}
}

// parse never returns the groups that 0, 1 and -1 stand for to kill.
func parse(line string) (o order, ok bool) {
	var err error
	if until, starting := strings.CutPrefix(line, startingWord); starting {
		_, err = fmt.Sscanf(until, "%d", &o.until)
		return o, err == nil
	}
	_, err = fmt.Sscanf(line, "%d %d", &o.group, &o.until)
	return o, err == nil && o.group > 1
}

func (o order) kill(errOut io.Writer, why string) int {
	if o.group != 0 && syscall.Kill(-o.group, syscall.SIGKILL) == nil {
		fmt.Fprintf(errOut, "lockscope: %s: killed its command\n", why)
	}
	return 1
}

//go:build unix

package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

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

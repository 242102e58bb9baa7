package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// sysProcAttr makes the kernel kill the program when the thread that starts it ends:
// see Process.own.
func sysProcAttr(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	if attr.Pdeathsig == 0 {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}

// isFrozen reports whether every thread of the process is stopped. A stop signal is
// delivered thread by thread, so for an instant the first may be stopped and another
// still be running.
func isFrozen(pid int) (bool, error) {
	stats, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(stats) == 0 {
		return false, fmt.Errorf("no threads of process %d in /proc: %w", pid, os.ErrNotExist)
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if threadState(stat) != 'T' {
			return false, nil
		}
	}
	return true, nil
}

// threadState returns the field after the parenthesised name, which may itself contain
// spaces and parentheses.
func threadState(stat []byte) byte {
	_, after, found := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	if !found || len(after) == 0 {
		return 0
	}
	return after[0]
}

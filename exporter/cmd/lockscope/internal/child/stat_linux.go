package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

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

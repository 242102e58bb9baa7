package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The states of proc(5) that matter here.
const (
	uninterruptible = 'D'
	stoppedState    = 'T'
)

// stat is what the kernel says of a process or of a thread.
type stat struct {
	state         rune
	parent, group int
}

// statOf reads a stat file. That of a process that is gone is zero.
func statOf(path string) (s stat) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s
	}
	name := strings.LastIndexByte(string(text), ')') // in parentheses; it may hold anything
	_, _ = fmt.Sscanf(string(text[name+1:]), " %c %d %d", &s.state, &s.parent, &s.group)
	return s
}

func processStat(pid string) stat { return statOf(filepath.Join("/proc", pid, "stat")) }

// parentOf is the parent of a process; 0 if there is none.
func parentOf(pid int) int { return processStat(fmt.Sprint(pid)).parent }

// stopsUnseen reports that the leader of a group waits in vfork(2) for a child that is stopped. The leader stops only
// when the child has become another program, so nobody learns of the stop, and nobody continues the child.
func stopsUnseen(leader int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", leader))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		if statOf(filepath.Join(thread, "stat")).state != uninterruptible {
			continue
		}
		children, err := os.ReadFile(filepath.Join(thread, "children"))
		if err != nil {
			continue // it has ended, or the kernel was built without this file
		}
		for child := range strings.FieldsSeq(string(children)) {
			if s := processStat(child); s.state == stoppedState && s.group == leader {
				return true
			}
		}
	}
	return false
}

package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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

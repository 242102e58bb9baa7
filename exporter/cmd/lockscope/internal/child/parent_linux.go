package child

import (
	"fmt"
	"os"
	"strings"
)

// parentOf is the parent of a process; 0 if there is none.
func parentOf(pid int) (parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything.
	_, _ = fmt.Sscanf(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " %c %d", new(rune), &parent)
	return parent
}

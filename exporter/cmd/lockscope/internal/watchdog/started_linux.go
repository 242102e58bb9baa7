package watchdog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// groupStartedBy is the process group that a child of lockscope leads, other than this process; 0 if there is none. See
// proc(5) for the fields of stat.
func groupStartedBy(lockscope int) (group int) {
	all, err := filepath.Glob("/proc/[1-9]*/stat")
	if err != nil {
		return 0
	}
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		var state string
		var parent, leads int
		_, err = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent, &leads)
		if err == nil && parent == lockscope && leads == pid {
			return leads
		}
	}
	return 0
}

package watchdog

import (
	"os"
	"path/filepath"
	"strconv"
)

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
		if s := StatOf(name); s.Parent == lockscope && s.Group == pid {
			return pid
		}
	}
	return 0
}

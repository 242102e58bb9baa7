package child

import (
	"fmt"
	"path/filepath"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/watchdog"
)

func processStat(pid string) watchdog.Stat {
	return watchdog.StatOf(filepath.Join("/proc", pid, "stat"))
}

// parentOf is the parent of a process; 0 if there is none.
func parentOf(pid int) int { return processStat(fmt.Sprint(pid)).Parent }

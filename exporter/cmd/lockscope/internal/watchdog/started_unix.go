//go:build unix && !linux

package watchdog

// groupStartedBy knows none: only Linux lists processes in files.
func groupStartedBy(int) (group int) { return 0 }

//go:build unix && !linux

package child

// parentOf is not known here: Ctrl-Z does nothing in a script.
func parentOf(int) int { return 0 }

// stopsUnseen is not known here.
func stopsUnseen(int) bool { return false }

//go:build unix && !linux

package child

// stopsUnseen is not known here.
func stopsUnseen(int) bool { return false }

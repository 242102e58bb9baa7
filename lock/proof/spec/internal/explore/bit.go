package explore

// Bit is 1 if b, else 0: for counts, and for the keys by which a model orders its nodes.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

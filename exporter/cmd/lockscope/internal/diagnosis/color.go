package diagnosis

// Color colours the first column of a table by its status.
func Color(column int, cell, padded string) string {
	if column != 0 {
		return padded
	}
	switch Status(cell) {
	case Pass:
		return "\x1b[32m" + padded + "\x1b[0m"
	case Warn:
		return "\x1b[33m" + padded + "\x1b[0m"
	case Fail:
		return "\x1b[31m" + padded + "\x1b[0m"
	}
	return padded
}

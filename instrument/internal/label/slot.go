package label

// Slot returns the name of the semaphore if a resource has the name of a slot: NAME#3.
func Slot(resource string) (semaphore string, ok bool) {
	i := len(resource)
	for i > 0 && kindOf(resource[i-1]) == '0' {
		i--
	}
	if i == len(resource) || i < 2 || resource[i-1] != '#' {
		return "", false
	}
	return resource[:i-1], true
}

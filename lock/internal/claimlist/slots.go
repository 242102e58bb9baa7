package claimlist

import "strconv"

// ParseSlots reads the number of slots of a semaphore, as a system stores it. ok is false for any other text.
func ParseSlots(text []byte) (slots int, ok bool) {
	slots, err := strconv.Atoi(string(text))
	return slots, err == nil && slots >= 1
}

// Resizes reports whether a resize from one number of slots to another writes, where known stands: 0 if no number does. A
// third number is another operator's. With 0 for to, the resize only asks.
func Resizes(known, from, to int) bool {
	return to != 0 && (known == 0 || known == from || known == to)
}

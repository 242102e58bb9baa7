package nodes

import (
	"math/bits"

	"github.com/lockscope/lockscope/lock"
)

// maxNodes bounds what a Board knows of nodes: four times the most that one Redlock
// has. Further ones are not shown.
const maxNodes = 4 * 64

// Set is a set of nodes by index.
type Set [maxNodes / 64]uint64

// Note takes down whether a node knows the lock, as far as its answer tells.
func (s *Set) Note(node int, said lock.Verdict) {
	if node < 0 {
		return
	}
	bit := uint64(1) << (node % 64)
	switch said {
	case lock.VerdictGranted, lock.VerdictRefilled:
		s[node/64] |= bit
	case lock.VerdictRefused:
		s[node/64] &^= bit
	}
}

// Len is how many there are.
func (s *Set) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

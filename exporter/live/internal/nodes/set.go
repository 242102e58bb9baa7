package nodes

import (
	"math/bits"

	"github.com/lockscope/lockscope/lock"
)

// maxNodes bounds the nodes of a Board: four times the most of one Redlock. Further ones are not shown.
const maxNodes = 4 * 64

// Set is a set of nodes by index.
type Set [maxNodes / 64]uint64

// Note records whether a node has the lock, as far as its answer shows.
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

// Len is the number of nodes in the set.
func (s *Set) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

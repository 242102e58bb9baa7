package scanner

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// digest stands for keys and identities in what is remembered, and what is written to
// disk: whoever reads that learns no value by it. Its salt is the memory's own.
type digest struct{ salt [16]byte }

func newDigest() (d digest) {
	_, _ = rand.Read(d.salt[:]) // never fails
	return d
}

func (d digest) sum(text string) [sha256.Size]byte {
	buf := make([]byte, 0, 256)
	return sha256.Sum256(append(append(buf, d.salt[:]...), text...))
}

// number is short: to tell some thousand texts apart.
func (d digest) number(text string) uint64 {
	sum := d.sum(text)
	return binary.LittleEndian.Uint64(sum[:8])
}

// text is long: to tell any two apart.
func (d digest) text(text string) string {
	sum := d.sum(text)
	return hex.EncodeToString(sum[:16])
}

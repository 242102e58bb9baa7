// Package digest stands for keys and identities of values in what is remembered, and in
// what is written to disk: whoever reads that learns no value by it.
package digest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest makes digests with a salt of its own.
type Digest struct{ salt [16]byte }

// New has a new salt.
func New() (d Digest) {
	_, _ = rand.Read(d.salt[:]) // never fails
	return d
}

// Salted has the salt of an earlier one; see [Digest.Salt].
func Salted(salt []byte) (d Digest) {
	copy(d.salt[:], salt)
	return d
}

// Salt is what [Salted] takes.
func (d Digest) Salt() []byte { return d.salt[:] }

// Number is short: to tell some thousand texts apart.
func (d Digest) Number(text string) uint64 {
	sum := d.sum(text)
	return binary.LittleEndian.Uint64(sum[:8])
}

// Text is long: to tell any two apart.
func (d Digest) Text(text string) string {
	sum := d.sum(text)
	return hex.EncodeToString(sum[:16])
}

func (d Digest) sum(text string) [sha256.Size]byte {
	buf := make([]byte, 0, 256)
	return sha256.Sum256(append(append(buf, d.salt[:]...), text...))
}

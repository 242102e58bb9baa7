// Package digest makes digests of keys and values for the memory on disk, so that nobody learns a value from it.
package digest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest makes digests with its own salt.
type Digest struct{ salt [16]byte }

// New makes a Digest with a new salt.
func New() (d Digest) {
	_, _ = rand.Read(d.salt[:]) // never fails
	return d
}

// Salted makes a Digest with the salt of an earlier one; see [Digest.Salt].
func Salted(salt []byte) (d Digest) {
	copy(d.salt[:], salt)
	return d
}

// Salt returns the argument for [Salted].
func (d Digest) Salt() []byte { return d.salt[:] }

// Number returns a short digest, enough to tell some thousand texts apart.
func (d Digest) Number(text string) uint64 {
	sum := d.sum(text)
	return binary.LittleEndian.Uint64(sum[:8])
}

// Text returns a long digest, enough to tell any two texts apart.
func (d Digest) Text(text string) string {
	sum := d.sum(text)
	return hex.EncodeToString(sum[:16])
}

func (d Digest) sum(text string) [sha256.Size]byte {
	buf := make([]byte, 0, 256)
	return sha256.Sum256(append(append(buf, d.salt[:]...), text...))
}

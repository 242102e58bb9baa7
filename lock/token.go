package lock

import (
	"crypto/rand"
	"encoding/hex"
)

const (
	tokenBytes  = 16 // 128 bits: nobody guesses another's token
	tokenLength = 2 * tokenBytes
)

// newToken makes the secret by which nodes tell one attempt from another. It is
// never used twice: a late release of one attempt must not undo the next.
func newToken() string {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails, since Go 1.24
	return hex.EncodeToString(b[:])
}

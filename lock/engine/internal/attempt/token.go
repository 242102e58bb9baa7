package attempt

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/lockscope/lockscope/lock/driver"
)

const tokenBytes = driver.TokenLength / 2 // 128 bits: nobody guesses another's token

// newToken makes the secret by which nodes tell one attempt from another. It is
// never used twice: a late release of one attempt must not undo the next.
func newToken() string {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails, since Go 1.24
	var text [driver.TokenLength]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}

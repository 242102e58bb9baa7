package driver

import (
	"crypto/sha1"
	"encoding/hex"
	"time"
)

// RevokeRequest asks which grant holds a lock, or marks a grant as revoked. A mark keeps the lease from being renewed.
// Nothing else about the lock changes: it stays until its TTL is over or its holder releases it.
//
// A node that may not vote is neither asked nor marked: it answers with the error that an acquire would get. A replica
// fails, too.
type RevokeRequest struct {
	Key string
	// Grant is the grant to mark, as a reply named it, whether the node has the lock or not; "" changes nothing. From
	// then on the node refuses to acquire, extend or refill with its token. A node that decides alone may mark only the
	// grant that holds the lock.
	Grant string
	// Readers are grants of readers to mark, each as Grant is. A request has no Grant then.
	Readers []string
	// Record says who revoked the lease, and why. If a mark with a record is there already, that one stays.
	Record string
	Keep   time.Duration // how long the mark lasts at least, and no less than twice the TTL that is left of the lock
}

// RevokeReply is what a node has under the key. Without Held, it has only what it says of marks.
type RevokeReply struct {
	Held      bool
	Grant     string // of the holder; "" if another library wrote the lock, or if readers hold it. See [GrantOf]
	ByReaders bool   // readers hold the lock
	// Readers are those that hold the lock and those that the request has marked, in any order. It is nil if the node
	// has none, or if the driver cannot mark readers.
	Readers []RevokeReader
	Counter uint64        // fence counter of the grant
	TTL     time.Duration // left, when the mark was made; negative if the lock never expires
	Holder  string        // holder record
	Record  string        // of the mark that stands; "" if the request made none
}

// RevokeReader is one reader of a lock, as a node knows it.
type RevokeReader struct {
	Grant   string
	Held    bool          // false if the node has no such reader; it is marked all the same
	Counter uint64        // fence counter of the grant
	TTL     time.Duration // left, when the mark was made; 0 if there is no such reader, negative if it never expires
	Holder  string        // holder record
	Record  string        // of the mark that stands; "" if the request made none
}

// GrantOf names the grant of a token. The name identifies the token and does not reveal it. All nodes of a lock must name
// a grant alike: a driver whose only node is a whole system may have names of its own.
func GrantOf(token string) string {
	sum := sha1.Sum([]byte(token)) // Lua scripts in Redis have no other digest
	var text [2 * sha1.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// RevokedError means that a node refused to extend a lock because its grant is revoked. The node has answered: the
// error is a refusal, no failure.
type RevokedError struct{ Record string }

func (e *RevokedError) Error() string { return "the lease is revoked" }

package scanner

import "time"

// Class names what is wrong with a lock.
type Class string

// The classes of findings.
const (
	NoTTL       Class = "no_ttl"        // never expires: TTL -1
	LongTTL     Class = "long_ttl"      // expires later than policy allows
	HeldTooLong Class = "held_too_long" // the same holder for longer than policy allows
	Orphan      Class = "orphan"        // a Redlock's token on a minority of nodes only
	ForeignType Class = "foreign_type"  // not a type that a lock has
)

// Format names who wrote a lock's value, as far as its shape tells.
type Format string

// The formats of lock values.
const (
	FormatLockscope Format = "lockscope"
	FormatRedisson  Format = "redisson"
	FormatShedLock  Format = "shedlock"
	FormatUnknown   Format = "unknown"
)

// Holder is what a lock's value says about the process that wrote it. It never
// holds an owner token.
type Holder struct {
	Format      Format
	Name        string    // instance, host or Redisson's client and thread; empty if the value does not tell
	Since       time.Time // by the holder's clock; zero if the value does not tell
	Count       int       // re-entries of a Redisson lock; else zero
	Traceparent string    // W3C trace context of a lockscope lock; else empty
	Fence       uint64    // fencing token of a lockscope lock; else zero
}

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class     Class
	Node      string
	Key       string        // as stored: any bytes; see KeyText
	Type      string        // Redis type: string, hash, ...
	TTL       time.Duration // at the last look; negative: none
	Holder    Holder
	Evidence  string // one sentence with the numbers that led here
	FirstSeen time.Time
	LastSeen  time.Time
	Confirmed bool // seen again with the same value after the grace

	since    time.Time // HeldTooLong: since when at least
	identity string    // of the value, for the second look and for repairs; never shown
}

package scanner

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

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

// classes in the order in which reports list them, worst first.
func classes() []Class { return []Class{NoTTL, HeldTooLong, Orphan, LongTTL, ForeignType} }

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class     Class
	Node      string
	Group     string        // of [WithGroup]
	Key       string        // as stored: any bytes; see KeyText
	Type      string        // Redis type: string, hash, ...
	TTL       time.Duration // at the last look; negative: none
	Hold      Hold
	Policy    string // that it was judged by; empty: the defaults
	Evidence  string // one sentence with the numbers that led here
	FirstSeen time.Time
	LastSeen  time.Time
	Confirmed bool // seen again with the same value after the grace

	since    time.Time // HeldTooLong: since when at least
	noted    bool      // a page of the sweep under way has shown it
	identity string    // of the value, for the second look and for repairs; never shown
	distinct bool      // the identity tells this hold from another one; see doubt
	doubt    string    // why it does not
	kept     bool      // its holder may have the same value for the next hold: see repairkept.go
	source   string    // whose node it is on; a key of a cluster may move to another node
	recalled recalled  // in place of identity, until it is seen again
}

// KeyText returns the key as people may read it: as it is if that is one line of
// printable text, else as a quoted Go string. strconv.Unquote brings back the
// bytes of one that starts with a quotation mark.
func KeyText(key string) string { return keyreader.Text(key) }

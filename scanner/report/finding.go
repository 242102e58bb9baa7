package report

import (
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/sight"
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

// Classes are all there are, in the order in which reports list them: worst first.
func Classes() []Class { return []Class{NoTTL, HeldTooLong, Orphan, LongTTL, ForeignType} }

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class     Class
	Node      string
	Group     string        // of the Scanner that found it, if it has one
	Key       string        // as stored: any bytes; see [KeyText]
	Type      string        // Redis type: string, hash, ...
	TTL       time.Duration // at the last look; negative: none
	Hold      Hold
	Policy    string // that it was judged by; empty: the defaults
	Evidence  string // one sentence with the numbers that led here
	FirstSeen time.Time
	LastSeen  time.Time
	Confirmed bool // seen again with the same value after the grace

	// Seen is what the Scanner knows of the lock besides, for a repair to compare. Nobody
	// else can read or make it; the zero value is that of a finding of another system.
	Seen sight.Sight `json:"-"`
}

// Compare puts the worst first, and what is known of one key together.
func Compare(a, b *Finding) int {
	order := Classes()
	if d := slices.Index(order, a.Class) - slices.Index(order, b.Class); d != 0 {
		return d
	}
	if d := strings.Compare(a.Key, b.Key); d != 0 {
		return d
	}
	return strings.Compare(a.Node, b.Node)
}

// KeyText returns the key as people may read it: as it is if that is one line of
// printable text, else as a quoted Go string. strconv.Unquote brings back the
// bytes of one that starts with a quotation mark.
func KeyText(key string) string { return keyreader.Text(key) }

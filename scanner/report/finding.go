package report

import (
	"cmp"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"slices"
	"strings"
	"time"
)

// Class names what is wrong with a lock.
type Class string

// The classes of findings.
const (
	NoTTL       Class = "no_ttl"        // no TTL: the key never expires
	LongTTL     Class = "long_ttl"      // the TTL is longer than policy allows
	HeldTooLong Class = "held_too_long" // one holder has had it for longer than policy allows, or had it at each look
	Orphan      Class = "orphan"        // the token is on a minority of a Redlock's nodes
	ForeignType Class = "foreign_type"  // a type that no lock has
)

// Classes returns all classes in the order of reports: worst first.
func Classes() []Class { return []Class{NoTTL, HeldTooLong, Orphan, LongTTL, ForeignType} }

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class     Class
	Backend   string // "" for Redis; else postgresql, etcd or zookeeper
	Node      string
	Group     string        // of the Scanner, if it has one
	Place     string        // where on the node, if the key does not say it: database, or database/schema
	Key       string        // as stored: any bytes; see [KeyText]
	Type      string        // Redis type: string, hash, ...; of other systems: row, advisory, transaction, key, znode
	TTL       time.Duration // at the last look; negative: no TTL
	Hold      Hold
	Policy    string // name of the policy that applied; empty: the defaults
	Evidence  string // one sentence with the numbers behind the finding
	Inferred  bool   // held too long: the same client had it at each look, and may have released it in between
	FirstSeen time.Time
	LastSeen  time.Time
	Confirmed bool // seen twice with the same value

	// Seen is what the Scanner needs to compare in a repair. Callers can neither read nor make it. It is nil in a
	// finding that no Scanner made.
	Seen any `json:"-"`
}

// Compare orders findings: worst class first, then by key and node. It returns a negative number if a comes first.
func Compare(a, b *Finding) int {
	order := Classes()
	if d := slices.Index(order, a.Class) - slices.Index(order, b.Class); d != 0 {
		return d
	}
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Node, b.Node), strings.Compare(a.Place, b.Place))
}

// Lock names the lock in printable form: its key, after the place that it is in.
func (f *Finding) Lock() string {
	if f.Place == "" {
		return inspect.KeyText(f.Key)
	}
	return inspect.KeyText(f.Place) + ": " + inspect.KeyText(f.Key)
}

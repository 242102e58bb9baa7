package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Finding is one thing wrong with one key on one node.
type Finding struct {
	Class     inspect.Class
	Backend   string // "" for Redis; else postgresql, etcd or zookeeper
	Node      string
	Group     string        // of the Scanner, if it has one
	Place     string        // where on the node, if the key does not say it: database, or database/schema
	Key       string        // as stored: any bytes; see [inspect.KeyText]
	Type      string        // Redis type: string, hash, ...; of other systems: row, advisory, transaction, key, znode
	TTL       time.Duration // at the last look; negative: no TTL
	Hold      inspect.Hold
	Policy    string // name of the policy that applied; empty: the defaults
	Team      string // of that policy
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
	order := inspect.Classes()
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

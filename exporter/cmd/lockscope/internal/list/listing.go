package list

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/scanner/listing"
)

// States of a lock.
const (
	lockHeld      = "held"      // a quorum of all nodes has it
	lockUndecided = "undecided" // a quorum has it, if nodes that did not answer or may have forgotten it do
	lockNotHeld   = "not_held"  // no quorum can have it: a leftover, or an attempt under way
)

// part is the listing of one system.
type part struct {
	system   string
	listing  listing.Listing
	waits    waits
	coverage *coverage                  // nil where that is not known
	wanted   func(resource string) bool // which locks were asked for
	inUse    map[string]int
}

// entry is a lock, and where it is.
type entry struct {
	listing.Lock
	in *part
}

// overview is the listings of all systems.
type overview struct {
	started   time.Time
	took      time.Duration
	parts     []*part
	locks     []entry
	omitted   int64
	truncated bool
}

// prefix names the system of a line if there are several.
func (l *overview) prefix(p *part) string {
	if len(l.parts) == 1 {
		return ""
	}
	return p.system + ": "
}

// column puts a cell before a row where there are several systems.
func (l *overview) column(cell string, row []string) []string {
	if len(l.parts) == 1 {
		return row
	}
	return append([]string{cell}, row...)
}

func (l *overview) inColumn(p *part, row []string) []string { return l.column(p.system, row) }

// read reports that at least one node was.
func (l *overview) read() bool {
	return slices.ContainsFunc(l.parts, func(p *part) bool {
		return len(p.listing.Nodes) == 0 || slices.ContainsFunc(p.listing.Nodes, func(n listing.Node) bool {
			return n.Err == nil
		})
	})
}

func (l *overview) summary() string {
	switch {
	case l.omitted > 0:
		return fmt.Sprintf("... and %d more: use --limit or --filter", l.omitted)
	case !l.read():
		return "not read"
	case l.truncated:
		return "no locks in what was read"
	}
	return "no locks"
}

// state is held, undecided or not held.
func (k *entry) state() string {
	all := k.Of + k.Silent
	quorum, more := all/2+1, k.Silent
	if c := k.in.coverage; c != nil {
		more += min(len(c.Forgetful), k.Of-k.Nodes)
	}
	switch {
	case k.Nodes >= quorum:
		return lockHeld
	case k.Nodes+more >= quorum:
		return lockUndecided
	}
	return lockNotHeld
}

// ttl is the time until the lock is no longer held, or until the last key of one that is not.
func (k *entry) ttl() time.Duration {
	if k.Held() {
		return k.TTL
	}
	return k.LongestTTL
}

// tellsTTL reports whether the system says how long the lock lives.
func (k *entry) tellsTTL() bool { return k.in.system == servers.Redis || k.TTL != 0 }

// knownTTL is zero where the system tells none.
func (k *entry) knownTTL() time.Duration {
	if !k.tellsTTL() {
		return 0
	}
	return k.ttl()
}

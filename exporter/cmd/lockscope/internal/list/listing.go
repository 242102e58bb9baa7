package list

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
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

// coverage is how much of the nodes of one Redlock was read; nil for other systems and a cluster.
type coverage struct {
	Read   int      `json:"read"` // nodes
	Of     int      `json:"of"`
	Unread []string `json:"unread,omitempty"`
	// Forgetful are nodes that were read, and do not vote because they may have forgotten locks.
	Forgetful []string `json:"may_have_forgotten,omitempty"`
	// AllHeldListed says that every lock that is held is in the list, unless it is beyond the limit.
	AllHeldListed bool `json:"all_held_listed"`
}

// markerTimeout bounds the questions for markers: the list does not wait for them.
const markerTimeout = time.Second

// coverageOf is how much of independent nodes a listing has read.
func coverageOf(ctx context.Context, nodes []servers.Node, l listing.Listing) *coverage {
	c := &coverage{Of: len(nodes)}
	failed := make(map[string]bool)
	for _, n := range l.Nodes {
		failed[n.Node] = n.Truncated
	}
	for _, n := range nodes {
		if _, single := n.Client.(*redis.Client); !single {
			return nil
		}
		if failed[n.Name] {
			c.Unread = append(c.Unread, n.Name)
		}
	}
	c.Read, c.Forgetful = c.Of-len(c.Unread), forgetful(ctx, nodes, failed)
	c.AllHeldListed = len(c.Unread)+len(c.Forgetful) < c.Of/2+1
	return c
}

// forgetful returns the nodes that were read and may have forgotten locks, because they restarted or were wiped.
func forgetful(ctx context.Context, nodes []servers.Node, failed map[string]bool) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, markerTimeout)
	defer cancel()
	clients := make([]*redis.Client, len(nodes))
	for i, n := range nodes {
		if !failed[n.Name] {
			clients[i] = n.Client.(*redis.Client)
		}
	}
	for i, s := range diagnosis.Standings(ctx, clients) {
		if s.Quarantined {
			names = append(names, nodes[i].Name)
		}
	}
	return names
}

// text says what is unknown; "" if nothing is.
func (c *coverage) text() string {
	if c == nil || len(c.Unread)+len(c.Forgetful) == 0 {
		return ""
	}
	var b strings.Builder
	if len(c.Unread) > 0 {
		were := "were"
		if c.Read == 1 {
			were = "was"
		}
		fmt.Fprintf(&b, "%d of %d nodes %s read; not read: %s. ", c.Read, c.Of, were, strings.Join(c.Unread, ", "))
	}
	if len(c.Forgetful) > 0 {
		fmt.Fprintf(&b, "%s may have forgotten locks: restarted or wiped, and not voting yet. ",
			strings.Join(c.Forgetful, ", "))
	}
	fmt.Fprintf(&b, "A lock on fewer than %d nodes may or may not be held. ", c.Of/2+1)
	if c.AllHeldListed {
		b.WriteString("Every held lock is listed.")
	} else {
		b.WriteString("Held locks may be missing.")
	}
	return b.String()
}

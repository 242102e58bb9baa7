package list

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/scanner/listing"
)

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

package text

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// ID is a resource of one set of nodes. On another set the name means another lock.
type ID struct{ Backend, Resource string }

// Key is the name of the ID in a graph, whose resources have only a name. Either part may be any text.
func (of ID) Key() string {
	return strconv.Itoa(len(of.Backend)) + ":" + of.Backend + of.Resource
}

// IDOf reads a key.
func IDOf(key string) ID {
	length, rest, _ := strings.Cut(key, ":")
	n, _ := strconv.Atoi(length)
	return ID{rest[:n], rest[n:]}
}

// KeyedAll returns leases with their names in the graph.
func KeyedAll(held []lock.HeldLease) []lock.HeldLease {
	all := make([]lock.HeldLease, len(held))
	for i, h := range held {
		all[i] = lock.HeldLease{Resource: ID{h.Backend, h.Resource}.Key(), Fence: h.Fence}
	}
	return all
}

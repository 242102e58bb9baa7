// Package names has what a Board calls resources, sets of nodes and lockers.
package names

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// ID is a resource of one set of nodes: on another, the name means something else.
type ID struct{ Backend, Resource string }

// Key is what stands for it in a graph, whose resources have but a name. Either part may be
// any text.
func (of ID) Key() string {
	return strconv.Itoa(len(of.Backend)) + ":" + of.Backend + of.Resource
}

// Of reads a key.
func Of(key string) ID {
	length, rest, _ := strings.Cut(key, ":")
	n, _ := strconv.Atoi(length)
	return ID{rest[:n], rest[n:]}
}

// Keyed is a lease as the graph knows it.
func Keyed(h lock.Held) lock.Held {
	return lock.Held{Resource: ID{h.Backend, h.Resource}.Key(), Fence: h.Fence}
}

// KeyedAll are leases as the graph knows them.
func KeyedAll(held []lock.Held) []lock.Held {
	all := make([]lock.Held, len(held))
	for i, h := range held {
		all[i] = Keyed(h)
	}
	return all
}

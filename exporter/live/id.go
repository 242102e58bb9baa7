package live

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// id is a resource of one set of nodes: on another, the name means something else.
type id struct{ backend, resource string }

// key is what stands for it in a graph, whose resources have but a name. Either part may be
// any text.
func (of id) key() string {
	return strconv.Itoa(len(of.backend)) + ":" + of.backend + of.resource
}

func idOf(key string) id {
	length, rest, _ := strings.Cut(key, ":")
	n, _ := strconv.Atoi(length)
	return id{rest[:n], rest[n:]}
}

// keyed is a lease as the graph knows it.
func keyed(h lock.Held) lock.Held {
	return lock.Held{Resource: id{h.Backend, h.Resource}.key(), Fence: h.Fence}
}

func keyedAll(held []lock.Held) []lock.Held {
	all := make([]lock.Held, len(held))
	for i, h := range held {
		all[i] = keyed(h)
	}
	return all
}

// id is what the call wants, as far as that is known.
func (c *call) id() id {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id{c.backend, c.resource}
}

// id is what the waiter wanted at that instant.
func (w *waiter) id() id { return id{w.backend, w.resource} }

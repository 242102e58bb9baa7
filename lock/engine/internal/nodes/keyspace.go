package nodes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
)

// Keyspace identifies the servers, in any order, and the keys that resources have there. Engines
// with the same keyspace contend with each other.
func Keyspace(servers []string, namespace, prefix string, nodes []driver.Node) string {
	servers = slices.Clone(servers)
	if len(servers) == 0 {
		for _, n := range nodes {
			servers = append(servers, n.Name())
		}
	}
	slices.Sort(servers)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q",
		nodes[0].System(), namespace, prefix, strings.Join(servers, "\n")))
	return hex.EncodeToString(sum[:8])
}

package text

import "testing"

// TestKeys: the graph's name for a set of nodes and a resource is unique, whatever their names are.
func TestKeys(t *testing.T) {
	seen := make(map[string]ID)
	for _, backend := range []string{"", "redis", "12:redis", "\x00", ":"} {
		for _, resource := range []string{"", "order:1", "redisorder:1", "\x00", ":"} {
			of := ID{backend, resource}
			if other, taken := seen[of.Key()]; taken || IDOf(of.Key()) != of {
				t.Errorf("%q is also of %q, and is read as %q", of, other, IDOf(of.Key()))
			}
			seen[of.Key()] = of
		}
	}
}

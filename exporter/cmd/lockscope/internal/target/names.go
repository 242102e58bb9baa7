package target

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// NamesFlag is how the services name the nodes, where that is not their addresses.
type NamesFlag struct{ List *ui.List }

// Register adds the flag.
func (n *NamesFlag) Register(set *pflag.FlagSet) {
	n.List = ui.NewList("name")
	set.Var(n.List, "node-names",
		"names that the services give the nodes (WithNodeNames). Give them in the order of --redis. "+
			"Without it, their addresses")
	ui.Group(set, ui.Servers, "node-names")
}

// Of returns a name for each node.
func (n *NamesFlag) Of(nodes []Node) ([]string, error) {
	names := n.List.Values()
	if len(names) == 0 {
		for _, node := range nodes {
			names = append(names, node.Name)
		}
	}
	if len(names) != len(nodes) {
		return nil, fmt.Errorf("--node-names has %s for %s: give one for each", ui.Count(len(names), "name"),
			ui.Count(len(nodes), "node"))
	}
	return names, nil
}

// Names are those of the nodes.
func Names(nodes []Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}

package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// mostUseful is how many nodes make a lock safer by what they cost.
const mostUseful = 9

func checkConnection(f Facts, _ Policy) inspect.Result {
	if f.Err == nil {
		return inspect.Passed("connected")
	}
	return inspect.Failed(f.Err.Error(), ui.ConnectionAdvice(f.Err))
}

func checkCount(facts []Facts, p Policy) []inspect.Result {
	return []inspect.Result{judgeCount(len(facts), len(reached(facts)), p)}
}

func judgeCount(n, up int, p Policy) inspect.Result {
	quorum := n/2 + 1
	detail := fmt.Sprintf("%s: a quorum is %d, %d may fail", inspect.Count(n, "node"), quorum, n-quorum)
	switch {
	case p.Single != "":
		return inspect.Warned(fmt.Sprintf("one %s counts as one node", p.Single),
			"a promoted replica may lack the last locks: protect your data with fencing tokens, or use "+
				"independent masters")
	case up < quorum:
		return inspect.Failed(fmt.Sprintf("%s, but only %d can be reached", detail, up),
			"nobody can take a lock now: repair the connections first")
	case n == 1:
		return inspect.Warned("1 node", "while it is down nobody can take a lock, and a restart that loses data permits a "+
			"second holder: use three")
	case n%2 == 0:
		return inspect.Warned(detail, fmt.Sprintf("%d nodes tolerate no more failures than %d: add or remove one", n, n-1))
	case n > mostUseful:
		return inspect.Warned(detail, "more than nine nodes make locks slower and hardly safer: use nine or fewer")
	case up < n:
		return inspect.Warned(fmt.Sprintf("%s, %d cannot be reached", detail, n-up),
			"locks still work: repair it before another one fails")
	}
	return inspect.Passed(detail)
}

func checkAddresses(facts []Facts, _ Policy) []inspect.Result {
	return shared(facts, func(f Facts) string { return f.Address }, "every node has its own address",
		func(address string, nodes []string) inspect.Result {
			return inspect.Failed(fmt.Sprintf("%s is given %d times", address, len(nodes)),
				"give each server once: its vote would count twice")
		})
}

func checkRunIDs(facts []Facts, _ Policy) []inspect.Result {
	return shared(facts, func(f Facts) string { return f.Server.RunID }, "every node is a separate server",
		func(_ string, nodes []string) inspect.Result {
			return inspect.Failed(strings.Join(nodes, " and ")+" are the same server",
				"give each server once: through a proxy or a DNS name, two addresses may reach the same one")
		})
}

func checkMachines(facts []Facts, p Policy) []inspect.Result {
	if p.Single != "" || len(facts) < 2 {
		return nil
	}
	host := func(f Facts) string { return strings.Join(f.Hosts[:min(len(f.Hosts), 1)], "") }
	return shared(facts, host, "every node has its own IP address", func(host string, nodes []string) inspect.Result {
		return inspect.Warned(fmt.Sprintf("%d nodes are at %s", len(nodes), host),
			"if that is one machine, they fail together and count as one node: spread them")
	})
}

// shared reports everything that more than one node has, else that all is well. Nodes of which it is unknown have "".
func shared(facts []Facts, of func(Facts) string, well string,
	bad func(key string, nodes []string) inspect.Result) (results []inspect.Result) {
	by := make(map[string][]string)
	for _, f := range facts {
		if key := of(f); key != "" {
			by[key] = append(by[key], f.Node)
		}
	}
	for key, nodes := range by {
		if len(nodes) > 1 {
			results = append(results, bad(key, nodes))
		}
	}
	slices.SortFunc(results, func(a, b inspect.Result) int { return strings.Compare(a.Detail, b.Detail) })
	if len(results) == 0 && len(by) > 0 {
		return []inspect.Result{inspect.Passed(well)}
	}
	return results
}

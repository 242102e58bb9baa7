package redlock

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Configuration is a set of nodes and the options of their lockers, as [New] takes them. The nodes'
// names and the longest TTL identify it.
type Configuration struct {
	Nodes   []redis.UniversalClient
	Options []lock.Option
}

// Reconfigure changes the members of a set of nodes, or the longest TTL of its locks. It removes
// enough nodes from the old configuration that no quorum is left there. Then it begins a quarantine
// under the new configuration on all nodes of the new set. The quarantine lasts for as long as a lock
// of either can be valid, and nobody can take a lock meanwhile.
//
// From then on the nodes refuse processes with the old configuration ([ErrOtherConfiguration]). These
// processes lose their leases when they fail to extend them. Stop them: if a node is emptied later, they
// could win it back.
//
// If the nodes that join are a quorum of the new set by themselves, as in a change from three nodes to
// seven, start no process with the new configuration before the change: it would get their votes. With
// fewer than three nodes before and after, and no [WithRestartQuarantine], you need no Reconfigure, and
// nothing guards against processes that disagree.
//
// The nodes' markers must match from or to. If a node has a third configuration, Reconfigure
// changes nothing and fails with [ErrStaleConfiguration], which names the node and the
// configurations. If two changes run at once, one wins; the other fails with that error or with
// [ErrChangeUnderWay].
//
// A node with the same name in both sets is a member of both. These must answer, or Reconfigure fails
// with [ErrNotReached] and takes its marks back:
//   - every node that joins;
//   - a quorum of the new set;
//   - a quorum of the old set, with markers unless no old node has one.
//
// If that fails, the process dies, or a node fails in the second round, some nodes do not vote.
// Reconfigure with the same arguments then finishes the change; with from and to exchanged it undoes
// the change. Either is always safe, costs another quarantine, and has to wait ten seconds if the
// process died.
//
// away lists the nodes of the new set that did not answer. They keep the old configuration, but are too
// few for a quorum of it. Once they are back, call Reconfigure again, or with the new configuration as
// both from and to: they join without a quarantine on the others. If no node is left to join,
// Reconfigure changes nothing and fails with [ErrAlreadyChanged].
func Reconfigure(ctx context.Context, from, to Configuration) (away []string, err error) {
	before, err := newMemberSet(from.Nodes, from.Options)
	if err != nil {
		return nil, fmt.Errorf("the old configuration: %w", err)
	}
	defer before.close()
	after, err := newMemberSet(to.Nodes, to.Options)
	if err != nil {
		return nil, fmt.Errorf("the new configuration: %w", err)
	}
	defer after.close()
	byName := make(map[string]*guard.Member)
	for _, m := range before.members {
		byName[m.Name] = m
	}
	for i, m := range after.members {
		if both := byName[m.Name]; both != nil && both.DB == m.DB {
			after.members[i] = both
		}
	}
	c := guard.Change{
		From: before.members, To: after.members, Old: before.fingerprint, New: after.fingerprint,
		Length: max(before.quarantine, after.quarantine), Wrap: nodeError(opReconfigure),
	}
	away, err = c.Run(ctx)
	if err != nil {
		return away, fmt.Errorf("lock: reconfigure failed: %w", err)
	}
	return away, nil
}

// opReconfigure is the operation in the errors of [Reconfigure].
const opReconfigure lock.Operation = "reconfigure"

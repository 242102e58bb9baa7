package redlock

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Configuration is a set of nodes and the options of the lockers on it, as [New] takes
// them. What counts are the nodes' names and the longest TTL.
type Configuration struct {
	Nodes   []redis.UniversalClient
	Options []lock.Option
}

// Reconfigure changes the members of a set of nodes, or the longest TTL of its locks. It
// takes the votes of the old nodes from the old configuration, so many of them that no
// quorum is left, and begins a quarantine under the new one on all nodes of the new set,
// for as long as a lock of either can be valid: the change costs that time without locks.
// Processes with the old configuration are refused from then on ([ErrOtherConfiguration]),
// lose their leases as they fail to extend them, and have to be stopped: a node that is
// emptied later could be won back by them. Where the nodes that join are a quorum of the
// new set by themselves, as from three to seven, no process may have the new configuration
// before: it would get their votes. Whoever uses fewer than three nodes without
// [WithRestartQuarantine] needs no such act, and has no such guard.
//
// The markers of the nodes decide whether from is what stands there. The first node that
// stands for a third configuration ends the act before anything is changed, with
// [ErrStaleConfiguration], and the error names the node and the configurations. Of two
// changes at once one wins; the other fails with that error, or with [ErrChangeUnderWay].
//
// A node is one of both sets if it has the same name in both. Every node that joins must
// answer, and a quorum of the old and of the new set, of which a quorum of the old one
// has a marker unless no node has one; else Reconfigure fails with [ErrNotReached]. What
// it has marked by then is taken back. If that fails, or the process dies, or a node fails
// in the second round, some nodes keep silent. Then Reconfigure with the same from and to
// finishes the change, and with both exchanged undoes it; either is always safe, costs
// another quarantine, and has to wait for ten seconds after a process that died.
//
// away are nodes of the new set that did not answer. They stay with the old configuration,
// in which they are too few. Once they are back, the same again, or with the new
// configuration as both from and to, lets them join without a quarantine on the others.
// Where nobody is left to join, it fails with [ErrAlreadyChanged] and has done nothing.
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
		return away, fmt.Errorf("lock: the configuration is not changed: %w", err)
	}
	return away, nil
}

// opReconfigure is what [Reconfigure] does to a node.
const opReconfigure lock.Operation = "reconfigure"

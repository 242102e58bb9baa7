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
// A node is one of both sets if it has the same name in both. Every node that joins must
// answer, of the old ones as many as make the others no quorum, and a quorum of the new; else Reconfigure fails with
// [ErrNotReached] and, unless they failed in mid-act, has changed nothing. If it fails
// later, or ctx ends, nodes may keep silent until it is run again, which is always safe.
//
// away are nodes of the new set that did not answer. They stay with the old configuration,
// in which they are too few. Once they are back, Reconfigure with the new one as both
// from and to lets them join, without a quarantine on the others.
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
		return nil, fmt.Errorf("lock: the configuration is not changed: %w", err)
	}
	return away, nil
}

// opReconfigure is what [Reconfigure] does to a node.
const opReconfigure lock.Operation = "reconfigure"

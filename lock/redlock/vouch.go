package redlock

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Vouch declares that nobody can hold a lease on any of the given nodes, because they
// are new: servers that just started and were never used for locks. They may then
// vote at once instead of after a quarantine, until they restart: what is said is
// said of these processes, whose run_ids it names. It is an act, for a person
// (lockscope init) or for code that has just set the servers up, and must not become
// part of what a service does when it starts.
//
// All nodes must answer, be distinct masters, and know nothing of locks yet;
// otherwise Vouch fails, nothing is vouched for, and its error names every node that
// stood in the way, with [ErrNotNew] where it was used before. The nodes are marked
// in two rounds; a node that restarts or loses its data between them is not vouched
// for. Where all nodes vote already, Vouch does nothing and returns nil; where only
// some do, and none was used since, it goes on where it was cut short.
//
// The nodes and the options are given as to [New]: their names and the longest TTL are
// what the nodes then vote for. ctx bounds the whole; if it ends, or a node fails,
// between the rounds, some nodes may have been vouched for, which is safe, and the
// error names the others.
func Vouch(ctx context.Context, nodes []redis.UniversalClient, opts ...lock.Option) error {
	set, err := newMemberSet(nodes, opts)
	if err != nil {
		return err
	}
	defer set.close()
	v := guard.Vouch{
		Members: set.members, Fingerprint: set.fingerprint, Length: set.quarantine, Wrap: nodeError(lock.OpVouch),
	}
	if err := v.Run(ctx); err != nil {
		return fmt.Errorf("lock: cannot vouch for these nodes: %w", err)
	}
	return nil
}

// RestartedNode is one node of a set, and what keeps it silent, as lockscope doctor reports it.
type RestartedNode struct {
	Name       string // of the node
	RunID      string // of the process, with the count of keys that it has evicted, if any: run_id+count
	Quarantine string // identity of its quarantine: [Marker]
}

// VouchRestarted declares that one node of a set has forgotten no lock, or none that can
// be valid, although it restarted: its quarantine ends at once. It is an act for a person
// who knows that, and is good once: for this quarantine of this process, and no other of
// either. It fails with [ErrNotNew] where the node has another by now, or none.
//
// Nodes and options are given as to [New]; only the one node is asked.
func VouchRestarted(
	ctx context.Context, nodes []redis.UniversalClient, restarted RestartedNode, opts ...lock.Option,
) error {
	set, err := newMemberSet(nodes, opts)
	if err != nil {
		return err
	}
	defer set.close()
	for _, m := range set.members {
		if m.Name != restarted.Name {
			continue
		}
		v := guard.VouchRestarted{
			Member: m, Fingerprint: set.fingerprint, RunID: restarted.RunID, Identity: restarted.Quarantine,
			Wrap: nodeError(lock.OpVouch),
		}
		if err := v.Run(ctx); err != nil {
			return fmt.Errorf("lock: cannot vouch for this node: %w", err)
		}
		return nil
	}
	return fmt.Errorf("%w: no node is named %q", lock.ErrInvalidNode, restarted.Name)
}

func nodeError(op lock.Operation) func(string, error) error {
	return func(node string, err error) error { return &lock.NodeError{Node: node, Op: op, Err: err} }
}

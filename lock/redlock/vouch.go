package redlock

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Vouch declares that nobody can hold a lease on the given nodes because they are new: their servers
// just started and were never used for locks. The nodes may then vote at once, without a quarantine,
// until they restart: Vouch applies to these processes, by their run_ids.
//
// Vouch asks each server for signs of earlier use. It refuses a node that ran FLUSHALL, on which keys have
// expired, that ran scripts and has no marker, or that has no marker while another node votes: see
// [VouchNew]. If all nodes have restarted without their data since their last lock, they show no such
// signs: only you know that they are not new.
//
// Vouch is for a person (lockscope init), or for code that has just set the servers up. Do not call it
// when a service starts.
//
// All nodes must answer, be distinct masters, and have no traces of locks. Otherwise Vouch fails and
// vouches for none. Its error names every node that failed, with [ErrNotNew] for those used before and for
// those in a quarantine that [Reconfigure] began.
// Vouch marks the nodes in two rounds, and does not vouch for a node that restarts or loses its data
// between them. If all nodes vote already, Vouch returns nil and changes nothing. If only some vote,
// and none was used since, it completes an earlier Vouch that was cut short.
//
// Give the same nodes and options as to [New]: the nodes then vote for their names and the longest TTL.
// ctx bounds the whole call. If ctx ends or a node fails between the rounds, some nodes may have been
// vouched for, which is safe; the error names the others.
func Vouch(ctx context.Context, nodes []redis.UniversalClient, opts ...lock.Option) error {
	return VouchNew(ctx, nodes, nil, opts...)
}

// VouchNew is like Vouch, but also accepts the nodes named in isNew, although their servers show signs of
// use. A person thereby declares that nobody can hold a lease that one of them granted. A node that still
// has keys of locks is refused.
func VouchNew(ctx context.Context, nodes []redis.UniversalClient, isNew []string, opts ...lock.Option) error {
	set, err := newMemberSet(nodes, opts)
	if err != nil {
		return err
	}
	defer set.close()
	for _, name := range isNew {
		if !slices.ContainsFunc(set.members, func(m *guard.Member) bool { return m.Name == name }) {
			return noNode(name)
		}
	}
	v := guard.Vouch{
		Members: set.members, Fingerprint: set.fingerprint, Length: set.quarantine, Wrap: nodeError(lock.OpVouch),
		New: isNew,
	}
	if err := v.Run(ctx); err != nil {
		return fmt.Errorf("lock: vouch failed: %w", err)
	}
	return nil
}

// RestartedNode identifies one node of a set and its quarantine, as lockscope doctor reports them.
type RestartedNode struct {
	Name       string // of the node
	RunID      string // of the process; "run_id+count" if it has evicted count keys
	Quarantine string // Identity of its marker
}

// VouchRestarted declares that one node of a set has forgotten no lock that can still be valid,
// although it restarted. Its quarantine ends at once. Only a person who knows this should call it. It
// applies to this quarantine of this process only, and fails with [ErrNotNew] if the node has another
// one by now, or none, or if [Reconfigure] began it: leases of the old configuration can be valid.
//
// Give the same nodes and options as to [New]; VouchRestarted contacts only the one node.
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
			return fmt.Errorf("lock: vouch failed: %w", err)
		}
		return nil
	}
	return noNode(restarted.Name)
}

func noNode(name string) error {
	return fmt.Errorf("%w: no node is named %q: use a name of the set", lock.ErrInvalidNode, name)
}

func nodeError(op lock.Operation) func(string, error) error {
	return func(node string, err error) error { return &lock.NodeError{Node: node, Op: op, Err: err} }
}
